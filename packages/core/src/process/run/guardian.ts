import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ToolError } from '../../contract/errors.js';
import { type MarkSeries, marksPerSeries } from './process-tree.js';

const chunkBytes = 65_536;

/** One pipe for both stdout and stderr, which keeps their order. */
export interface OutputPipe {
  /** The child's fd 1 and 2. */
  writer: number;
  /** Call it once the child has started: from then on only children hold the pipe open. */
  closeWriter(): void;
  /** Calls `take` with each chunk, in a buffer that the next chunk overwrites. Call it once. */
  read(take: (chunk: Buffer) => void): Socket;
  /** Returns the pipe to the pool; with `isFree: false`, because a process still holds it, removes it instead. */
  release(options: { isFree: boolean }): void;
}

/**
 * A helper shell that outlives Lathe by a moment. While Lathe runs, the helper makes named pipes on request. When Lathe
 * exits or is killed, the helper's stdin closes, and it kills every process that carries a mark of the series.
 */
export class Guardian {
  readonly #series: MarkSeries;
  readonly #shell: string;
  readonly #directory: () => Promise<string>;
  readonly #watched = new Set<readonly string[]>();
  /** Paths of unused pipes. */
  readonly #idlePipes: string[] = [];
  #helper: Promise<Helper> | undefined;

  constructor(shell: string, series: MarkSeries, directory: () => Promise<string>) {
    this.#shell = shell;
    this.#series = series;
    this.#directory = directory;
  }

  /** Starts the helper if it is not running. */
  async ready(): Promise<Helper> {
    this.#helper ??= this.#start();
    return this.#helper;
  }

  /**
   * A named pipe: Node gives its children sockets, which no program can open by the name `/dev/stderr`, and one for each
   * stream. A pipe is used again after its command, which saves 1.6 of 4.2 ms per command, the time to start `mkfifo`:
   * `npm run bench -- --no-peers --only 'shell: run echo'`.
   */
  async openPipe(): Promise<OutputPipe> {
    const idle = this.#idlePipes.pop();
    // If the helper was killed, its directory is gone; a new helper makes a new one.
    const path = idle !== undefined && existsSync(idle) ? idle : await (await this.ready()).makePipe();
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    let isWriterOpen = true;
    let reader: Socket | undefined;
    const closeWriter = () => {
      if (isWriterOpen) closeSync(writer);
      isWriterOpen = false;
    };
    const read = (take: (chunk: Buffer) => void) => {
      reader = new Socket(readingInto(fd, take));
      return reader;
    };
    const release = ({ isFree }: { isFree: boolean }) => {
      closeWriter();
      if (reader) reader.destroy();
      else closeSync(fd);
      if (isFree) this.#idlePipes.push(path);
      else rmSync(path, { force: true });
    };
    return { writer, closeWriter, read, release };
  }

  /** On systems without /proc, marks cannot be read, so the helper kills the process groups it knows. */
  async watchGroup(group: number): Promise<void> {
    await this.#send(`+${group}`);
  }

  async unwatchGroup(group: number): Promise<void> {
    await this.#send(`-${group}`);
  }

  /** Until the returned function is called, the helper removes these empty directories when Lathe is gone. */
  async watchPlaceholders(directories: readonly string[]): Promise<() => void> {
    this.#watched.add(directories);
    await this.#sendPlaceholders();
    return () => {
      this.#watched.delete(directories);
      void this.#sendPlaceholders();
    };
  }

  /** Sends the whole list, which replaces the previous one. Inner directories come first. */
  async #sendPlaceholders(): Promise<void> {
    const paths = new Set([...this.#watched].flat().filter((path) => !path.includes('\n')));
    const ordered = [...paths].toSorted((a, b) => b.length - a.length);
    await this.#send(['=', ...ordered.map((path) => `=${path}`)].join('\n'));
  }

  /** Does nothing if there is no helper: the next command starts one or reports why it cannot. */
  async #send(lines: string): Promise<void> {
    (await this.#helper?.catch(() => undefined))?.send(lines);
  }

  async #start(): Promise<Helper> {
    const directory = await mkdtemp(join(await this.#directory(), 'pipes-'));
    const args = ['-c', script, 'lathe-guardian', directory, `${this.#series.id}`, `${marksPerSeries}`];
    const child = spawn(this.#shell, [...quietShell(this.#shell), ...args], {
      // Its own session, so that the Ctrl-C that ends Lathe does not end the helper.
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const helper = new Helper(child, directory);
    const forget = () => {
      this.#helper = undefined;
    };
    child.once('exit', forget);
    child.once('error', forget);
    this.#series.limitSetter = (await helper.nextLine()) || undefined;
    return helper;
  }
}

/** Options that keep a shell from reading the user's startup files. */
export function quietShell(shell: string): string[] {
  return shell.endsWith('bash') ? ['--noprofile', '--norc'] : [];
}

class Helper {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #count = 0;
  #isDead = false;

  constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.#directory = directory;
    child.stdin?.on('error', () => this.#fail());
    child.on('error', () => this.#fail());
    child.on('exit', () => this.#fail());
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#waiting.shift()?.(line));
    this.#keepAlive(false);
  }

  async makePipe(): Promise<string> {
    const path = join(this.#directory, `${this.#count++}`);
    this.send(path);
    const answer = await this.nextLine();
    if (answer !== path)
      throw new ToolError('shell_execute_error', `The shell cannot be started: no pipe for its output at ${path}`);
    return path;
  }

  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async nextLine(): Promise<string | undefined> {
    if (this.#isDead) return undefined;
    this.#keepAlive(true);
    return new Promise((resolve) => {
      this.#waiting.push((line) => {
        if (this.#waiting.length === 0) this.#keepAlive(false);
        resolve(line);
      });
    });
  }

  #fail(): void {
    this.#isDead = true;
    for (const answer of this.#waiting.splice(0)) answer(undefined);
  }

  /** An idle helper must not keep Lathe running; one that still has to answer must. */
  #keepAlive(isNeeded: boolean): void {
    const change = isNeeded ? 'ref' : 'unref';
    this.#child[change]();
    // Pipes to a child are sockets, which their declared type leaves out.
    for (const stream of [this.#child.stdin, this.#child.stdout]) if (stream instanceof Socket) stream[change]();
  }
}

/**
 * $1 directory for pipes, $2 series, $3 marks per series. A line on stdin is the path of a pipe to make, or a process
 * group that started (+) or ended (-), or `=`, which empties the list of directories to remove at the end, or `=` and a
 * path to add to it. The helper sets its own limit outside the series, so that neither its own sweep nor that of an
 * outer Lathe kills it, and it ignores SIGPIPE. A killed group dies in one step, which stops a fork bomb. A process that
 * Lathe was starting may appear after the first sweep, so the helper stops only after several sweeps that find nothing.
 * It reads each file of a process at once, because up to a delimiter bash reads byte by byte, which is far slower.
 */
const script = `
trap '' PIPE
(ulimit -R "$(($2 * $3))") && echo ulimit || command -v prlimit || echo
ulimit -R "$((($2 - 1) * $3))"
groups=
while IFS= read -r line; do
  case $line in
    +*) groups="$groups \${line#+}" ;;
    -*) kept=; for group in $groups; do [ "$group" = "\${line#-}" ] || kept="$kept $group"; done; groups=$kept ;;
    =) set -- "$1" "$2" "$3" ;;
    =*) set -- "$@" "\${line#=}" ;;
    *) mkfifo -m 600 "$line" && printf '%s\\n' "$line" || echo ;;
  esac
done
trap '' TERM HUP INT
rm -rf -- "$1"
for group in $groups; do kill -KILL -- "-$group"; done
[ -n "$BASH_VERSION" ] && [ -r /proc/self/limits ] || exit
is_ours() {
  local text marks mark variables
  IFS= read -r -N 65536 text <"/proc/$1/limits"
  [[ $text =~ 'Max realtime timeout'\\ +[0-9a-z]+\\ +([0-9a-z]+) ]] || return 1
  mark=\${BASH_REMATCH[1]}
  [[ $mark == unlimited ]] || ((mark / $3 != $2)) || return 0
  mapfile -d '' -t variables <"/proc/$1/environ"
  for text in "\${variables[@]}"; do
    [[ $text == LATHE_CALL=* ]] || continue
    IFS=: read -r -a marks <<<"\${text#*=}"
    for mark in "\${marks[@]}"; do ((mark / $3 == $2)) && return 0; done
  done
  return 1
}
empty_sweeps=0
for round in {1..200}; do
  found=
  for directory in /proc/[0-9]*; do
    pid=\${directory#/proc/}
    is_ours "$pid" "$2" "$3" || continue
    read -r stat <"$directory/stat" || continue
    read -r state parent group rest <<<"\${stat##*) }"
    [[ $state == Z ]] && continue
    found=1
    kill -KILL -- "-$group" "$pid"
  done
  [ -z "$found" ] || { empty_sweeps=0; sleep 0.01; continue; }
  # The sandboxes that needed the directories are dead.
  ((empty_sweeps > 0)) || rmdir -- "\${@:4}"
  ((++empty_sweeps < 5)) || break
  sleep 0.3
done
`;

/** The declared type of a socket's options leaves `onread` out. */
function readingInto(fd: number, take: (chunk: Buffer) => void) {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  const callback = (length: number) => {
    take(buffer.subarray(0, length));
    return true;
  };
  return { fd, readable: true, writable: false, onread: { buffer, callback } };
}
