/** The raw URL of a file page on GitHub; other URLs stay as they are. */
export function rawFileUrl(url: URL): URL {
  if (url.origin !== 'https://github.com') return url;
  const [, owner, repository, path] = /^\/([^/]+)\/([^/]+)\/blob\/(.+)$/.exec(url.pathname) ?? [];
  return path === undefined ? url : new URL(`https://raw.githubusercontent.com/${owner}/${repository}/${path}`);
}
