import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { isLong, report } from '../../../testing/long-run.js';
import { type ModelServer, modelServer } from '../../../testing/model-server.js';
import { holdings, soakModel, soakProject } from '../../../testing/soak-world.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { webServer } from '../../../testing/web-server.js';
import { type AgentLathe, createAgentLathe } from './create-agent-lathe.js';
import { chooseModel } from './models/choose/choose-model.js';
import { openSession, type Session } from './open-session.js';

const minutes = Number(process.env['LATHE_SOAK_MINUTES'] ?? 60);
/** Prime, so that sooner or later every call is the one that is interrupted. */
const callsInARound = 29;
const isLinux = process.platform === 'linux';

interface Point {
  minute: number;
  heap: number;
  rss: number;
  files: number;
  children: number;
}

/** A lathe in a small project, and the server whose model it uses. */
async function open(): Promise<{ lathe: AgentLathe; server: ModelServer; forget: () => void }> {
  const [root, home] = [tempDirectory(soakProject.files), tempDirectory()];
  const page = await webServer((_, response) => response.end('<h1>A page</h1><p>It says hello.</p>'));
  const step = soakModel(root, page.url);
  const server: ModelServer = await modelServer([(request) => step(request)]);
  mkdirSync(join(home, '.lathe'), { mode: 0o700 });
  writeFileSync(join(home, '.lathe', 'settings.json'), JSON.stringify(soakProject.settings(page.port)), {
    mode: 0o600,
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    OPENAI_API_KEY: 'sk-test-0123456789abcdef',
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_MODEL: 'scripted',
  };
  const lathe = await createAgentLathe({ cwd: root, env, home, isTrusted: true });
  onTestFinished(() => lathe.close());
  await lathe.discover(new AbortController().signal);
  // The servers remember what they were sent; over an hour that would be most of the memory.
  const forget = () => {
    for (const list of [server.requests, server.bodies, server.ports, page.requests]) list.length = 0;
  };
  return { lathe, server, forget };
}

async function begin(lathe: AgentLathe, resume: boolean): Promise<Session> {
  const choice = await chooseModel(
    { settings: lathe.settings.model, env: lathe.loaded.env },
    new AbortController().signal,
  );
  if (choice.status !== 'chosen') throw new Error('no model');
  return openSession(lathe, { model: choice.model, ...(resume && { resume: 'latest' }) });
}

/** One prompt to its end, or interrupted in its nth call. */
async function work(session: Session, counts: Map<string, number>, stopAfter: number): Promise<void> {
  const controller = new AbortController();
  let calls = 0;
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for await (const event of session.prompt('Go on.', controller.signal)) {
    if (event.type === 'call-update' && event.status === 'executing' && ++calls === stopAfter) controller.abort();
    if (event.type === 'call-end') count(`${event.outcome.name} ${event.outcome.status}`);
    if (event.type === 'prompt-end') count(`prompt ${event.end.reason}`);
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function look(since: number): Point {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { minute: (performance.now() - since) / 60_000, heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20, ...holdings() };
}

/** By how much the straight line through the points rises from the first to the last. */
function rise(points: readonly Point[], of: 'heap' | 'rss'): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(({ minute }) => minute)), mean(points.map((point) => point[of]))];
  const above = points.reduce((sum, point) => sum + (point.minute - x) * (point[of] - y), 0);
  const below = points.reduce((sum, point) => sum + (point.minute - x) ** 2, 0);
  return (above / below) * ((points.at(-1)?.minute ?? 0) - (points[0]?.minute ?? 0));
}

/** R-X: prompts with every kind of tool, mishaps and interruptions, `rounds` of them or for so many minutes. */
async function soak(until: (rounds: number, minute: number) => boolean) {
  const { lathe, forget } = await open();
  const counts = new Map<string, number>();
  const points: Point[] = [];
  const start = performance.now();
  let session = await begin(lathe, false);
  for (let round = 1; !until(round, (performance.now() - start) / 60_000); round++) {
    // Every fifth is interrupted, each time in another call.
    const stopAfter = round % 5 === 0 ? 1 + ((7 * round + 4) % callsInARound) : Number.POSITIVE_INFINITY;
    await work(session, counts, stopAfter);
    if (round % 20 === 0) {
      await session.close();
      session = await begin(lathe, round % 40 === 0);
    }
    forget();
    points.push(look(start));
  }
  await session.close();
  return { counts, points };
}

const most = (points: readonly Point[], of: 'files' | 'children') => Math.max(...points.map((point) => point[of]));

test.skipIf(!isLinux)('work leaves no descriptor and no process behind', { timeout: 120_000 }, async () => {
  const { counts, points } = await soak((round) => round > 6);
  const [warm, rest] = [points.slice(0, 3), points.slice(3)];
  expect([...counts.keys()].filter((key) => key.startsWith('prompt'))).toEqual(['prompt done', 'prompt aborted']);
  expect([...counts.keys()].filter((key) => key.endsWith('success')).length).toBeGreaterThanOrEqual(13);
  expect(most(rest, 'files')).toBeLessThanOrEqual(most(warm, 'files') + 2);
  expect(most(rest, 'children')).toBeLessThanOrEqual(most(warm, 'children') + 1);
});

// RC01
test.skipIf(!isLong || !isLinux)(
  'hours of work: memory, descriptors and processes stay flat',
  {
    timeout: (minutes + 10) * 60_000,
  },
  async () => {
    const { counts, points } = await soak((_, minute) => minute >= minutes);
    const calls = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const [early, late] = [points.slice(0, points.length / 3), points.slice(points.length / 3)];
    const facts = { heap: rise(late, 'heap'), rss: rise(late, 'rss') };
    report('soak', calls, {
      minutes: Math.round(points.at(-1)?.minute ?? 0),
      prompts: points.length,
      'heap MB at the end': (points.at(-1)?.heap ?? 0).toFixed(1),
      'heap rise MB': facts.heap.toFixed(2),
      'rss rise MB': facts.rss.toFixed(2),
      files: most(late, 'files'),
      children: most(late, 'children'),
    });
    expect(facts.heap).toBeLessThan(8);
    expect(facts.rss).toBeLessThan(32);
    expect(most(late, 'files')).toBeLessThanOrEqual(most(early, 'files') + 4);
    expect(most(late, 'children')).toBeLessThanOrEqual(most(early, 'children') + 2);
  },
);
