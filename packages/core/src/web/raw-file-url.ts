/** GitHub shows a file inside an application; its raw form is the file itself. */
export function rawForm(url: URL): URL {
  if (url.origin !== 'https://github.com') return url;
  const [, owner, repository, path] = /^\/([^/]+)\/([^/]+)\/blob\/(.+)$/.exec(url.pathname) ?? [];
  return path === undefined ? url : new URL(`https://raw.githubusercontent.com/${owner}/${repository}/${path}`);
}
