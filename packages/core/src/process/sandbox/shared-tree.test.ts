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

interface Written {
  text: string;
  at: number;
}

/** A person who works in a repository with git and editors, and remembers what they wrote. */
class Person {
  readonly root: string;
  /** The protected files as the person left them, and since when. */
  readonly wrote = new Map<string, Written>();
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
    this.#remember(name, text);
  }

  /** As an editor does that writes a new file. */
  #replace(name: string, text: string): void {
    writeFileSync(join(this.root, '.new'), text);
    renameSync(join(this.root, '.new'), join(this.root, name));
    this.#remember(name, text);
  }

  #configure(key: string): void {
    const value = `v${++this.#count}`;
    if (this.git('config', key, value).status === 0) this.#remember(`config ${key}`, value);
    else rmSync(join(this.root, '.git/config.lock'), { force: true });
  }

  #checkOut(): void {
    const branch = chance(this.#random, 0.5) ? 'main' : 'other';
    // One that fails may have written its files already, so the person tries until it works.
    for (let failures = 0; this.git('checkout', '-qf', branch).status !== 0; failures++)
      if (failures > 20) this.#removeLocks();
    for (const name of ['.npmrc', '.envrc']) this.#remember(name, this.git('show', `${branch}:${name}`).stdout);
  }

  #remember(name: string, text: string): void {
    this.wrote.set(name, { text, at: performance.now() });
  }

  /** As git advises when a git was killed. */
  #removeLocks(): void {
    for (const name of ['index.lock', 'HEAD.lock']) rmSync(join(this.root, '.git', name), { force: true });
  }
}

interface Lathe {
  child: ChildProcess;
  runs: Run[];
}

type Run = SandboxedRun & { endedAt: number };

function startLathe(script: string, root: string, home: string, number: number): Lathe {
  const options = JSON.stringify({ root, home, seed: seed + number });
  const child = spawn(process.execPath, [script, options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const runs: Run[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    runs.push({ ...JSON.parse(line), endedAt: performance.now() });
  });
  return { child, runs };
}

/** The contents that were put aside and reported to the person. */
function reportedCopies(runs: readonly Run[]): string[] {
  const paths = runs.flatMap(({ findings }) =>
    findings.flatMap((text) => [...text.matchAll(/it is now (.*?)(?=, then |\.$)/g)].map(([, path = '']) => path)),
  );
  return paths.filter((path) => existsSync(path)).map((path) => contentOf(path));
}

/** What became of the last content that the person wrote to each protected file. */
class Comparison {
  readonly lost: unknown[] = [];
  /** How many contents a command overwrote in the moment before it was ended. Lathe reported it. */
  overwritten = 0;
  count = 0;

  compare({ root, wrote }: Person, runs: readonly Run[]): void {
    for (const [name, { text, at }] of wrote) {
      this.count++;
      const file = name.startsWith('config ') ? '.git/config' : name;
      const now = contentOf(join(root, file));
      if (file === name ? now === text : now.includes(text)) continue;
      const later = runs.filter(({ endedAt }) => endedAt > at);
      const copies = reportedCopies(later);
      if (copies.some((copy) => copy.includes(text))) continue;
      const findings = later.flatMap((run) => run.findings).filter((finding) => finding.includes(join(root, file)));
      if (findings.length > 0 && copies.some((copy) => copy.includes('PLANTED'))) this.overwritten++;
      else this.lost.push({ name, text, now, findings });
    }
  }
}

/** Waits until every command is over that ran when the person wrote last. */
async function finishRuns(lathes: readonly Lathe[]): Promise<void> {
  const counts = lathes.map(({ runs }) => runs.length);
  const areOver = () => lathes.every(({ runs }, index) => runs.length >= (counts[index] ?? 0) + 2);
  await expect.poll(areOver, { timeout: 120_000 }).toBe(true);
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
    const comparison = new Comparison();
    const allRuns = () => lathes.flatMap(({ runs }) => runs);
    for (let acts = 1; performance.now() < end; acts++) {
      person.act();
      await wait(50 + (acts % 7) * 60);
      if (acts % 20 !== 0) continue;
      await finishRuns(lathes);
      comparison.compare(person, allRuns());
    }
    for (const { child } of lathes) child.stdin?.end();
    await Promise.all(lathes.map(({ child }) => once(child, 'close')));
    const runs = allRuns();
    comparison.compare(person, runs);
    expect(comparison.lost).toEqual([]);
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
    const { count: compared, overwritten } = comparison;
    const facts = { ended, notStarted, unexplained: unexplained.length, compared, overwritten };
    report('sandboxed commands beside a person and another Lathe', runs.length, facts);
    expect(unexplained.slice(Math.floor(runs.length / 1_000))).toEqual([]);
    // Commands that write to a name all the time are sometimes faster than the copy of what the person wrote.
    expect(overwritten).toBeLessThanOrEqual(Math.ceil(compared / 1_000));
  },
);
