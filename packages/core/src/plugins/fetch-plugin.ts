import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { thrownText } from '../contract/errors.js';
import { readBytes } from '../settings/read-bounded.js';
import { maxPluginBytes, type PluginFiles, readTree } from './plugin-files.js';
import { filesBelow, readTar, withoutTopFolder } from './read-tar.js';

/** Where a plugin comes from, as it is kept for updates. */
export type PluginSource =
  | { type: 'folder' | 'archive'; path: string }
  | { type: 'address'; url: string }
  /** `folder`: the plugin is not the whole repository. */
  | { type: 'git'; url: string; ref?: string; folder?: string };

type GitSource = Extract<PluginSource, { type: 'git' }>;
type Environment = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);
const timeoutMs = 120_000;

const webAddress = /^https:\/\/|^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?\//i;
const gitAddress = /^(?:ssh|file|git\+ssh):\/\/|^[\w.-]+@[\w.-]+:(?!:)\S+$/i;

/** Recognizes a folder, an archive, an address of an archive, or a git repository. Throws what is wrong with it. */
export async function parseSource(text: string, resolvePath: (path: string) => string): Promise<PluginSource> {
  const [, address = text, ref = '', folder] = /^(.*?)#([^#:]*)(?::([\w./-]+))?$/.exec(text) ?? [];
  if (!/^(?:\w[\w./-]{0,199})?$/.test(ref)) throw new Error(`${JSON.stringify(ref)} is not a branch or tag`);
  const isWeb = webAddress.test(address);
  if (isWeb && /\.(?:tgz|tar\.gz|tar)$/i.test(new URL(address).pathname)) return { type: 'address', url: address };
  const isGit = isWeb || gitAddress.test(address);
  if (isGit) return { type: 'git', url: address, ...(ref !== '' && { ref }), ...(folder !== undefined && { folder }) };
  return localSource(text, resolvePath(text));
}

async function localSource(text: string, path: string): Promise<PluginSource> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) return { type: 'folder', path };
  if (info?.isFile()) return { type: 'archive', path };
  throw new Error(
    `${JSON.stringify(text)} is neither a folder, nor an archive, nor the address of a git repository (https or ssh)`,
  );
}

/** All files of a plugin. Nothing of it runs, and nothing is written but a clone that is removed again. */
export async function fetchPlugin(source: PluginSource, env: Environment, signal: AbortSignal): Promise<PluginFiles> {
  switch (source.type) {
    case 'folder':
      return readTree(source.path);
    case 'archive':
      return withoutTopFolder(readTar(readBytes(source.path, maxPluginBytes) ?? Buffer.alloc(0)));
    case 'address':
      return withoutTopFolder(readTar(await download(source.url, signal)));
    case 'git':
      return cloned(source, env, signal);
  }
}

async function download(address: string, signal: AbortSignal): Promise<Buffer> {
  const response = await follow(address, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
  if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > maxPluginBytes) throw new Error(`it is larger than ${maxPluginBytes / 1024 / 1024} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Follows redirects. An https address must not lead to another protocol: anybody on the way could send another archive. */
async function follow(address: string, signal: AbortSignal, left = 5): Promise<Response> {
  const response = await fetch(address, { redirect: 'manual', signal });
  const location = response.headers.get('location');
  if (location === null || response.status < 300 || response.status > 399) return response;
  await response.body?.cancel();
  const next = new URL(location, address);
  const isFromHere = new URL(address).protocol === 'http:' && webAddress.test(next.href);
  if (next.protocol !== 'https:' && !isFromHere) throw new Error('the address leads to one that is not https');
  if (left === 0) throw new Error('the address redirects too often');
  return follow(next.href, signal, left - 1);
}

/**
 * A bare clone, so that no hook and no filter of a checkout runs; the archive of it is made without the person's git
 * settings, which could name filters. Only https, ssh and local repositories: `ext::` would run a command. An https address
 * must not lead to one that is not.
 */
async function cloned(source: GitSource, env: Environment, signal: AbortSignal): Promise<PluginFiles> {
  const { url, ref, folder: inside } = source;
  const folder = await mkdtemp(join(tmpdir(), 'lathe-plugin-'));
  const clone = 'clone --quiet --bare --depth=1 --no-tags --template= --config core.hooksPath=/dev/null'.split(' ');
  const allowed = /^https:/i.test(url) ? 'https' : 'http:ssh:git+ssh:file';
  const safe = { ...env, GIT_ALLOW_PROTOCOL: allowed, GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '' };
  const bare = { ...safe, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' };
  const options = {
    signal,
    timeout: timeoutMs,
    maxBuffer: 3 * maxPluginBytes,
    cwd: folder,
    encoding: 'buffer',
  } as const;
  const git = (own: typeof safe, args: readonly string[]) => run('git', args, { ...options, env: own });
  try {
    await git(safe, [...clone, ...(ref === undefined ? [] : [`--branch=${ref}`]), '--', url, 'repository']);
    const { stdout } = await git(bare, ['--git-dir=repository', 'archive', '--format=tar', 'HEAD']);
    const files = readTar(stdout);
    return inside === undefined ? files : filesBelow(files, `${inside.replace(/\/+$/, '')}/`);
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : '';
    throw new Error(said || thrownText(error), { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
