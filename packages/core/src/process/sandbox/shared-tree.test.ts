import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import type { SandboxedRun } from '../../../../../testing/children/sandboxed-lathe.js';
import { isLong, report, seed } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { chance, pick, randomFrom } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';

const minutes = Number(process.env['LATHE_SANDBOX_MINUTES'] ?? 60);

/** A person who works in a repository with git and editors, and remembers what they wrote. */
class Person {
  readonly root: string;
  /** The protected files as the person left them. */
  readonly wrote = new Map<string, string>();
  readonly #random: () => number;
  #count = 0;

  constructor(root: string, random: () => number) {
    this.root = root;
    this.#random = random;
    this.git('init', '-qb', 'main');
    this.save('.npmrc', 'a=main\n');
    this.save('.envrc', 'mine\n');
    this.save('file.txt', 'content\n');
    this.git('add', '-A');
    this.git('commit', '-qm', 'first');
    this.git('checkout', '-qb', 'other');
    this.save('.npmrc', 'a=other\n');
    this.git('commit', '-qam', 'second');
    this.wrote.delete('file.txt');
  }

  git(...args: string[]): { status: number | null; stdout: string } {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    const identity = ['-c', 'user.name=P', '-c', 'user.email=p@q', '-c', 'gc.auto=0'];
    return spawnSync('git', [...identity, ...args], { cwd: this.root, env, encoding: 'utf8' });
  }

  /** One of the things that people do all day. */
  act(): void {
    const acts = [
      () => this.#configure('user.nick'),
      () => this.#configure('user.name'),
      () => this.#configure('branch.main.description'),
      () => this.#checkOut(),
      () => this.save('.envrc', `export N=${++this.#count}\n`),
      () => this.#replace('.envrc', `export R=${++this.#count}\n`),
      () => this.save('.git/hooks/pre-commit', `#!/bin/sh\n# ${++this.#count}\n`),
      () => this.git('status'),
      () => this.git('log', '--oneline'),
      () => this.git('commit', '-q', '--allow-empty', '-m', 'mine'),
      () => this.git('branch', `b${++this.#count}`),
    ];
    pick(this.#random, acts)();
  }

  /** As an editor does that writes in place. */
  save(name: string, text: string): void {
    writeFileSync(join(this.root, name), text);
    this.wrote.set(name, text);
  }

  /** As an editor does that writes a new file. */
  #replace(name: string, text: string): void {
    writeFileSync(join(this.root, '.new'), text);
    renameSync(join(this.root, '.new'), join(this.root, name));
    this.wrote.set(name, text);
  }

  #configure(key: string): void {
    const value = `v${++this.#count}`;
    if (this.git('config', key, value).status === 0) this.wrote.set(`config ${key}`, value);
    else rmSync(join(this.root, '.git/config.lock'), { force: true });
  }

  #checkOut(): void {
    const branch = chance(this.#random, 0.5) ? 'main' : 'other';
    if (this.git('checkout', '-qf', branch).status !== 0) return;
    for (const name of ['.npmrc', '.envrc']) this.wrote.set(name, this.git('show', `${branch}:${name}`).stdout);
  }
}

interface Lathe {
  child: ChildProcess;
  runs: SandboxedRun[];
}

function startLathe(script: string, root: string, home: string, number: number): Lathe {
  const options = JSON.stringify({ root, home, seed: seed + number });
  const child = spawn(process.execPath, [script, options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const runs: SandboxedRun[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => runs.push(JSON.parse(line)));
  return { child, runs };
}

/** The contents that were put aside and reported to the person. */
function toldCopies(runs: readonly SandboxedRun[]): string[] {
  const paths = runs.flatMap(({ findings }) => findings.flatMap((text) => /it is now (.*)\.$/.exec(text)?.[1] ?? []));
  return paths.filter((path) => existsSync(path)).map((path) => contentOf(path));
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

test.skipIf(!isLong || !hasProgram('bwrap'))(
  'a person and two Lathes in one tree: protected files are what the person wrote',
  async () => {
    const root = realpathSync(tempDirectory());
    const person = new Person(root, randomFrom(seed));
    const script = await bundleChild('sandboxed-lathe');
    const home = tempDirectory();
    const lathes = [startLathe(script, root, home, 1), startLathe(script, root, home, 2)];
    const end = performance.now() + minutes * 60_000;
    for (let acts = 0; performance.now() < end; acts++) {
      person.act();
      await wait(50 + (acts % 7) * 60);
    }
    for (const { child } of lathes) child.stdin?.end();
    await Promise.all(lathes.map(({ child }) => once(child, 'close')));
    const runs = lathes.flatMap((lathe) => lathe.runs);
    const copies = toldCopies(runs);
    const config = contentOf(join(root, '.git/config'));
    const wrong = [...person.wrote].filter(([name, text]) => {
      const now = name.startsWith('config ') ? config : contentOf(join(root, name));
      return !now.includes(text) && !copies.some((copy) => copy.includes(text));
    });
    expect(wrong.map(([name, text]) => ({ name, text, now: contentOf(join(root, name)) }))).toEqual([]);
    const places = [
      '.git/config',
      '.envrc',
      '.npmrc',
      '.git/hooks/pre-commit',
      '.git/hooks/pre-push',
      '.lathe/settings.json',
    ];
    expect(places.filter((name) => contentOf(join(root, name)).includes('PLANTED'))).toEqual([]);
    expect(
      ['.git/info/attributes', '.git/worktrees/w/config.worktree'].filter((name) => existsSync(join(root, name))),
    ).toEqual([]);
    const ended = runs.filter(({ ending }) => ending.type === 'unprotected').length;
    // A sandbox that cannot start says why: somebody removed a file while it was being planned.
    const notStarted = runs.filter(({ ending, failure }) => ending.type === 'exit' && failure !== undefined).length;
    const unexplained = runs.filter(({ ending }) => ending.type === 'signal');
    const facts = { ended, notStarted, unexplained: unexplained.length };
    report('sandboxed commands beside a person and another Lathe', runs.length, facts);
    expect(unexplained.slice(Math.floor(runs.length / 1_000))).toEqual([]);
  },
);
