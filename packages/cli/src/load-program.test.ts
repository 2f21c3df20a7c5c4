import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const name = `program-${process.version}`;
const tools = async (home: string) => (await runProgram(['tools', '--json'], { home })).stdout;

/** A home with the cache that the first run left, and what that run printed. */
async function firstRun() {
  const home = tempDirectory({ '.lathe/settings.json': '{}' });
  const stdout = await tools(home);
  const file = join(home, '.lathe/cache', name);
  return { home, stdout, file, content: readFileSync(file) };
}

test('the first run leaves a private compile cache, and the next one uses it as it is', async () => {
  const { home, stdout, file, content } = await firstRun();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { mtimeMs } = statSync(file);
  expect(await tools(home)).toBe(stdout);
  expect([readFileSync(file).equals(content), statSync(file).mtimeMs]).toEqual([true, mtimeMs]);
});

test('a cache that is older than a day is made again', async () => {
  const { home, stdout, file } = await firstRun();
  const now = Date.now() / 1000;
  utimesSync(file, now, now - 90_000);
  expect(await tools(home)).toBe(stdout);
  expect(statSync(file).mtimeMs / 1000).toBeGreaterThan(now - 1);
});

test.each<[string, (content: Buffer) => Buffer]>([
  ['a flipped bit', (content) => (content.writeUInt8(content.readUInt8(50_000) ^ 1, 50_000), content)],
  ['half of it', (content) => content.subarray(0, content.length / 2)],
  ['nothing', () => Buffer.alloc(0)],
  ['the hash of another build', (content) => (content.fill(7, 0, 32), content)],
])('a cache with %s is ignored and replaced', async (_title, damage) => {
  const { home, stdout, file, content } = await firstRun();
  writeFileSync(file, damage(Buffer.from(content)));
  expect(await tools(home)).toBe(stdout);
  expect(readFileSync(file).length).toBeGreaterThan(content.length / 2);
  expect(readdirSync(join(home, '.lathe/cache'))).toEqual([name]);
});

test('a cache that others may write is not used', async () => {
  const { home, stdout, file } = await firstRun();
  chmodSync(file, 0o666);
  expect(await tools(home)).toBe(stdout);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('without a state directory none is made', async () => {
  const home = tempDirectory();
  await runProgram(['--help'], { home });
  expect(existsSync(join(home, '.lathe'))).toBe(false);
});
