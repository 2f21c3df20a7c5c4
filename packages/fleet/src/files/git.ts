import { execFile } from 'node:child_process';

export interface GitOptions {
  cwd: string;
  signal: AbortSignal;
  input?: Uint8Array;
  /** In addition to the environment of the process. */
  env?: Record<string, string>;
}

/** A repository of somebody else must not run anything while we look at it. */
const safely = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'user.name=Lathe',
  'user.email=lathe@localhost',
].flatMap((setting) => ['-c', setting]);
const ownVariables = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
const maxOutputBytes = 256 << 20;
const timeoutMs = 10 * 60_000;
const limits = { maxBuffer: maxOutputBytes, timeout: timeoutMs, killSignal: 'SIGKILL', encoding: 'buffer' } as const;
/** A patch that `git apply` takes, whatever the settings of a person are. */
export const diffFlags = ['--binary', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv'];

/** Runs git to its end and returns its stdout. Throws with the last line of its stderr. */
export function git(args: readonly string[], { cwd, input, env, signal }: GitOptions): Promise<Buffer> {
  const options = { ...limits, cwd, signal, env: { ...process.env, ...ownVariables, ...env } };
  return new Promise((resolve, reject) => {
    const child = execFile('git', [...safely, ...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const name = args.find((arg) => !arg.startsWith('-')) ?? '';
      const reason = stderr.toString('utf8').trim().split('\n').at(-1) || error.message;
      reject(signal.aborted ? signal.reason : new Error(`git ${name} failed: ${reason}`, { cause: error }));
    });
    // A command that fails early does not read its input.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** As `git`, for output that is one line of text. */
export async function gitLine(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).toString('utf8').trim();
}
