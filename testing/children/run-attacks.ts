import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createLathe } from '../../packages/core/src/lathe/create-lathe.js';
import { allAttacks } from '../attacks/all.js';
import type { Attack } from '../attacks/attack.js';
import { makeWorld, type Places, type World } from '../attacks/world.js';

/**
 * `run-attacks JSON`: runs attacks, each in a world of its own, and prints one line of JSON for each: what it achieved.
 * `wrapper` is a sandbox program in front of `bash attack.sh`; without one, Lathe runs the attacks in yolo mode.
 */
interface Options {
  /** Every so many attacks one is run. */
  every?: number;
  only?: string;
  places?: Places;
  wrapper?: string[];
  /** Variables that the wrapper needs; BASE stands for the directory of the world. */
  env?: Record<string, string>;
}

export interface AttackResult {
  area: Attack['area'];
  name: string;
  stoppedBy: string;
  /** Empty if it was stopped. */
  achieved: string[];
  state: 'run' | 'not applicable' | 'no answer';
}

const timeoutMs = 30_000;
const options: Options = JSON.parse(process.argv[2] ?? '{}');

async function main(): Promise<void> {
  const chosen = allAttacks
    .filter((_, index) => index % (options.every ?? 1) === 0)
    .filter(({ area, name }) => `${area}: ${name}`.includes(options.only ?? ''));
  for (const attack of chosen) console.log(JSON.stringify(await tryAttack(attack)));
}

async function tryAttack(attack: Attack): Promise<AttackResult> {
  const { area, name, stoppedBy } = attack;
  const isBare = options.wrapper?.length === 0;
  const result = { area, name, stoppedBy };
  if ((options.wrapper && attack.isOurs) || (isBare && attack.isDangerous))
    return { ...result, achieved: [], state: 'not applicable' };
  const world = await makeWorld({ hasSockets: area === 'sockets', ...(options.places && { places: options.places }) });
  try {
    const exports = Object.entries(world.variables).map(([key, value]) => `export ${key}='${value}'\n`);
    // The last line shows that the script ran at all: a sandbox that cannot start holds nothing.
    writeFileSync(join(world.root, 'attack.sh'), `${exports.join('')}echo BEGUN\n${attack.script}\n`);
    const outside = attack.outside === undefined ? undefined : actOutside(attack.outside, world);
    const run = options.wrapper ? runWrapped(options.wrapper, world) : runInLathe(attack, world);
    const text = await Promise.race([run, wait(timeoutMs, '', { ref: false })]);
    await outside;
    const betrayal = world.betrays(text);
    const achieved = [...(betrayal === undefined ? [] : [betrayal]), ...(await world.damage())];
    const wasDenied = attack.rights !== undefined;
    const hasRun = text.includes('BEGUN') || wasDenied;
    if (!hasRun) process.stderr.write(`${area}: ${name}: ${text.slice(0, 1_000)}\n`);
    return { ...result, achieved, state: hasRun ? 'run' : 'no answer' };
  } finally {
    world.close();
  }
}

/** What the user does meanwhile. */
async function actOutside(script: string, world: World): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!existsSync(join(world.root, 'ready')) && performance.now() < deadline) await wait(5);
  if (script === 'OTHER_COMMAND') {
    await runInLathe({ script: '' }, world, 'true');
    return;
  }
  const env = { PATH: process.env['PATH'], HOME: world.home, GIT_CONFIG_GLOBAL: '/dev/null' };
  await textOf(spawn('bash', ['-c', script], { cwd: world.root, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

async function runInLathe(
  { rights, times = 1, hasServer }: Pick<Attack, 'script' | 'rights' | 'times' | 'hasServer'>,
  { root, home, base }: World,
  command = 'bash ./attack.sh',
): Promise<string> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LATHE_HOME: join(base, 'lathe'),
    AWS_SECRET_ACCESS_KEY: 'ESCAPED',
    OPENAI_API_KEY: 'ESCAPED',
    SSH_AUTH_SOCK: '/x',
  };
  const flags = { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'required' };
  const lathe = await createLathe({ cwd: root, home, env, flags });
  if (lathe.problems.length > 0) throw new Error(JSON.stringify(lathe.problems));
  const texts: string[] = [];
  const server = { name: 'run_shell_command', args: { command: 'sleep 100', is_background: true } };
  if (hasServer) texts.push(JSON.stringify(await lathe.run([server], new AbortController().signal)));
  for (let count = 0; count < times; count++) {
    const args = { command, timeout: timeoutMs - 5_000, ...(rights && { rights }) };
    const outcomes = await lathe.run([{ name: 'run_shell_command', args }], new AbortController().signal);
    texts.push(JSON.stringify(outcomes));
  }
  await lathe.close();
  return texts.join('\n');
}

async function runWrapped(wrapper: readonly string[], { root, home, base }: World): Promise<string> {
  const [program, ...args] = [...wrapper, 'bash', './attack.sh'];
  const set = Object.entries(options.env ?? {}).map(([key, value]) => [key, value.replaceAll('BASE', base)]);
  const env = { PATH: process.env['PATH'], HOME: home, ...Object.fromEntries(set) };
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs - 5_000);
  const text = await textOf(child);
  clearTimeout(timer);
  return text;
}

function textOf(child: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  return new Promise((done) => {
    // A process that was left behind may hold the pipes open.
    child.once('exit', () => setTimeout(() => done(text), 100));
    child.once('error', (error) => done(error.message));
  });
}

void main().then(() => process.exit());
