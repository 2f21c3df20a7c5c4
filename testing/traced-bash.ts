import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface TracedBash {
  /** Where commands run; the only place they can write to. */
  root: string;
  home: string;
  path: string;
  /** For the list of commands and the trace. */
  scratch: string;
}

/**
 * Runs commands one after the other in a sandbox, as the product does, and says which programs each of them executed,
 * and whether any printed the text.
 */
export async function runTraced(
  commands: readonly string[],
  options: TracedBash,
  text: string,
): Promise<{ programs: string[][]; printsText: boolean }> {
  const trace = join(options.scratch, 'trace');
  // Some of the commands would never end: each has a second of processor time.
  const one = '(ulimit -t 1; LATHE_N=$i exec bash --noprofile --norc -c "$c" "lathe-$i" </dev/null 2>&1)';
  // A pipe, as in the product: from a socket, which is what Node gives, a command could wait for input.
  const driver = `i=0; while IFS= read -r -d "" c; do ${one}; i=$((i+1)); done | cat`;
  const strace = ['-f', '-v', '--seccomp-bpf', '-qq', '-o', trace, '-e', 'trace=execve', '-e', 'signal=none', 'bwrap'];
  let printsText = false;
  let end = '';
  // There may be gigabytes of it.
  const look = (chunk: string) => {
    printsText ||= (end + chunk).includes(text);
    end = chunk.slice(-text.length);
  };
  await runInSandbox(driver, commands, options, { argv: ['strace', ...strace], onOutput: look });
  return { programs: programsByCommand(await readFile(trace, 'utf8'), commands.length), printsText };
}

/** What `printf '%s\0' @ words` prints for each list of words: the words as bash passes them on. */
export async function printWords(words: readonly string[], options: TracedBash): Promise<string[][]> {
  const driver =
    'while IFS= read -r -d "" c; do bash --noprofile --norc -c "$c" 2>/dev/null </dev/null; printf "\\0\\0end\\0"; done';
  const commands = words.map((list) => `printf '%s\\0' @ ${list}`);
  let output = '';
  await runInSandbox(driver, commands, options, { argv: ['bwrap'], onOutput: (chunk) => (output += chunk) });
  return output
    .split('\0\0end\0')
    .slice(0, words.length)
    .map((text) => text.split('\0').slice(0, -1 + Number(!text.endsWith('\0'))));
}

async function runInSandbox(
  driver: string,
  commands: readonly string[],
  { root, home, path, scratch }: TracedBash,
  { argv: [program = '', ...args], onOutput }: { argv: string[]; onOutput: (chunk: string) => void },
): Promise<void> {
  const file = join(scratch, 'commands');
  await writeFile(file, commands.map((command) => `${command}\0`).join(''));
  const sandbox = [
    '--unshare-all',
    '--die-with-parent',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/tmp',
    '--bind',
    root,
    root,
    '--ro-bind',
    scratch,
    scratch,
    '--ro-bind-try',
    home,
    home,
  ];
  const environment = [
    '--clearenv',
    ...Object.entries({ PATH: path, HOME: home, LANG: 'C.UTF-8', GIT_OPTIONAL_LOCKS: '0' }).flatMap((pair) => [
      '--setenv',
      ...pair,
    ]),
  ];
  const shell = ['--chdir', root, 'bash', '--noprofile', '--norc', '-c', `exec < "$0"; ${driver}`, file];
  const child = spawn(program, [...args, ...sandbox, ...environment, ...shell], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 600_000,
  });
  child.stdout.setEncoding('utf8').on('data', onOutput);
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with ${signal ?? code}`);
}

/** Each command carries its number in the environment, which all it starts inherits, also what outlives it. */
function programsByCommand(trace: string, count: number): string[][] {
  const programs = Array.from({ length: count }, () => new Set<string>());
  for (const line of trace.split('\n')) {
    const [, program] = /execve\("([^"]+)"/.exec(line) ?? [];
    const [, index] = /"LATHE_N=(\d+)"/.exec(line) ?? [];
    // The shell that reads the command has its number as a name too.
    if (program === undefined || index === undefined || / = -1 |"lathe-\d+"/.test(line)) continue;
    programs[Number(index)]?.add(program);
  }
  return programs.map((set) => [...set]);
}
