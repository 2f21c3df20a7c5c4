import { spawn } from 'node:child_process';

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

/** A patch that `git apply` takes, whatever the settings of a person are. */
export const diffFlags = ['--binary', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv'];
const maxOutput = 256 << 20;
const timeoutMs = 10 * 60_000;

/** Runs git to its end and returns its stdout. Throws with the last line of its stderr. */
export async function git(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { cwd, input, env, signal } = options;
  signal.throwIfAborted();
  const child = spawn('git', [...safely, ...args], {
    cwd,
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...env },
    stdio: 'pipe',
    signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const output: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxOutput) output.push(chunk);
    else child.kill('SIGKILL');
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString('utf8')).slice(-2_000)));
  // A command that fails early does not read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  signal.throwIfAborted();
  if (code === 0) return Buffer.concat(output);
  const name = args.find((arg) => !arg.startsWith('-')) ?? '';
  if (bytes > maxOutput) throw new Error(`git ${name} printed more than ${maxOutput >> 20} MB`);
  throw new Error(`git ${name} failed: ${complaint.trim().split('\n').at(-1) || `exit code ${code}`}`);
}

/** As `git`, for output that is one line of text. */
export async function gitLine(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).toString('utf8').trim();
}
