import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const goesOn = 'This session accepts no more prompts. Quit and run lathe --continue: it counts from zero.';

/** The terminal with a model that never stops calling. */
async function open(args: string[], HOME = tempDirectory(), cwd = tempDirectory()) {
  let count = 0;
  const call = () => ({ name: 'read_file', args: { absolute_path: `/nowhere/${count++}` } });
  const server = await modelServer([() => ({ calls: [call()] })]);
  const env = { HOME, ...modelVariables('openai', server.url) };
  const at = terminal(['--yolo', ...args], { cwd, env, columns: 120 });
  const flat = () => at.text().replaceAll(/\s+/g, ' ');
  return {
    ...at,
    server,
    HOME,
    cwd,
    stops: async (reason: string, times: number) => {
      const wanted = `${reason} ${goesOn}`;
      await expect.poll(() => flat().split(wanted).length - 1, { timeout: 25_000, interval: 30 }).toBe(times);
      await expect.poll(at.visible, { timeout: 25_000, interval: 30 }).toContain('Ask for anything.');
    },
  };
}

test.each([
  [['--max-turns', '2'], 'Stopped after 2 turns, the limit that was set.', 2],
  [['--max-tokens', '1'], 'tokens; the limit is 1.', 1],
  [['--max-minutes', '0'], 'Stopped after 0 s, the time limit that was set.', 0],
])(
  '%j ends the work in the terminal, and a further prompt reaches no model',
  async (flags, reason, requests) => {
    const at = await open([...flags, 'go']);
    await at.stops(reason, 1);
    expect(at.server.requests).toHaveLength(requests);
    at.type('again\r');
    await at.stops(reason, 2);
    expect(at.server.requests).toHaveLength(requests);
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
  },
  60_000,
);

test('a session that is resumed in the terminal counts from zero up to the same limit', async () => {
  const first = await open(['--max-turns', '1', 'one']);
  await first.stops('Stopped after 1 turns, the limit that was set.', 1);
  first.type('/quit\r');
  expect(await first.exited()).toBe(0);
  const id = /--resume ([0-9a-f]{8})/.exec(first.text())?.[1] ?? '';

  const at = await open(['--max-turns', '2', 'two'], first.HOME, first.cwd);
  await at.stops('Stopped after 2 turns, the limit that was set.', 1);
  at.type(`/sessions ${id}\r`);
  await at.shows('❯ one');
  at.type('again\r');
  await at.stops('Stopped after 2 turns, the limit that was set.', 2);
  expect(at.server.requests).toHaveLength(4);
  at.type('/quit\r');
  expect(await at.exited()).toBe(0);
}, 60_000);
