/** The files of a repository without commits, as `tempDirectory` takes them. */
export function gitFiles(config = '[core]\n\tbare = false\n', at = '.git'): Record<string, string> {
  const files = { HEAD: 'ref: refs/heads/main\n', config, 'objects/info/packs': '', 'refs/heads/.keep': '' };
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [`${at}/${name}`, content]));
}
