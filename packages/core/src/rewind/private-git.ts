import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../contract/errors.js';

export interface PrivateGitOptions {
  /** The program, outside the workspace. */
  program: string;
  /** The directory of the private repository. */
  directory: string;
  /** The workspace, in which commands run. */
  root: string;
  /** The directory whose `.gitignore` counts first: the workspace or one above it. */
  workTree: string;
  index: string;
  /** The object directory of the person's repository, for commands that only read. */
  borrowed: string | undefined;
  excludesFile: string | undefined;
}

export interface GitRun {
  input?: string | Buffer;
  signal: AbortSignal;
  /** Also reads objects of the person's repository. Never for a command that writes: it would touch their time stamps. */
  borrows?: boolean;
  maxBytes?: number;
  /** The exit codes of success. */
  codes?: readonly number[];
}

/** How long one command may take. */
const timeoutMs = 30_000;
const maxOutputBytes = 64 << 20;

/**
 * Runs git on a repository of our own. Nobody else's configuration counts: not the person's, not the system's and not
 * that of a repository in the workspace, so no filter, hook, monitor or other program runs.
 */
export class PrivateGit {
  readonly options: PrivateGitOptions;

  constructor(options: PrivateGitOptions) {
    this.options = options;
  }

  /** Creates what is missing of the repository. */
  async prepare(): Promise<void> {
    const { directory, excludesFile } = this.options;
    for (const name of ['objects', 'info', 'refs/lathe'])
      await mkdir(join(directory, name), { recursive: true, mode: 0o700 });
    await putFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n');
    await putFile(join(directory, 'config'), configuration(excludesFile));
  }

  /** Runs a command to its end and returns its stdout. Throws a `ToolError` when it fails. */
  async run(args: readonly string[], options: GitRun): Promise<Buffer> {
    const { input = '', signal, borrows = false, maxBytes = maxOutputBytes, codes = [0] } = options;
    const { program, root, borrowed } = this.options;
    signal.throwIfAborted();
    const env = { ...this.#environment(), ...(borrows && borrowed && { GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed }) };
    const timeout = AbortSignal.timeout(timeoutMs);
    const child = spawn(program, args, { cwd: root, env, signal: AbortSignal.any([signal, timeout]), stdio: 'pipe' });
    const output: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) output.push(chunk);
      else child.kill('SIGKILL');
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString('utf8')).slice(0, 500)));
    // A command that fails early does not read its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [code = null]: (number | null)[] = await once(child, 'close').catch((error: unknown) => {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      throw new GitFailure(`git ${args[0]} took longer than ${timeoutMs / 1000} s`);
    });
    if (bytes > maxBytes) throw new GitFailure(`git ${args[0]} printed more than ${maxBytes >> 20} MB`);
    if (code === null || !codes.includes(code))
      throw new GitFailure(`git ${args[0]} failed: ${complaint.trim() || `exit code ${code}`}`);
    return Buffer.concat(output);
  }

  #environment(): Record<string, string> {
    const { directory, workTree, index } = this.options;
    return {
      GIT_DIR: directory,
      GIT_WORK_TREE: workTree,
      GIT_INDEX_FILE: index,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      // A repository of the person may name a program that fetches objects which are missing.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_TERMINAL_PROMPT: '0',
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      LC_ALL: 'C',
    };
  }
}

/** Writes a file unless it is like that already, in one step: other processes read it at any moment. */
export async function putFile(path: string, content: string | Buffer): Promise<void> {
  const wanted = Buffer.from(content);
  if ((await readFile(path).catch(() => undefined))?.equals(wanted)) return;
  const temp = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(temp, wanted, { mode: 0o600 });
  await rename(temp, path);
}

/** What git could not do. */
export class GitFailure extends ToolError {
  constructor(message: string) {
    super('execution_failed', message);
  }
}

/** Content is stored byte for byte and text is compared as text, whatever `.gitattributes` in the workspace say. */
export const exactAttributes = '* -text !eol -crlf -ident !filter !working-tree-encoding !diff\n';

function configuration(excludesFile = '/dev/null'): string {
  const quoted = excludesFile.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `[core]
	repositoryFormatVersion = 0
	bare = false
	fileMode = ${process.platform !== 'win32'}
	ignoreCase = ${process.platform !== 'linux'}
	autocrlf = false
	safecrlf = false
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	sparseCheckout = false
	preloadIndex = true
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = "${quoted}"
	logAllRefUpdates = false
	looseCompression = 1
	fsyncMethod = writeout-only
[gc]
	auto = 0
[protocol]
	allow = never
`;
}
