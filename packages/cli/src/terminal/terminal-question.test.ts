import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const [endOfInput, interruption] = ['\u0004', '\u0003'];

describe.each([
  { key: endOfInput, name: 'Ctrl+D', code: 3 },
  { key: interruption, name: 'Ctrl+C', code: 130 },
])('$name', ({ key, code }) => {
  test('denies the question of lathe call', async () => {
    const cwd = tempDirectory({});
    const call = { file_path: join(cwd, 'made'), content: 'x' };
    const at = terminal(['call', 'write_file', JSON.stringify(call)], { cwd });
    await at.shows('[y]es / [N]o:');
    at.type(key);
    expect(await at.exited()).toBe(code);
    expect(existsSync(call.file_path)).toBe(false);
    expect(at.text()).not.toContain('unexpectedly');
  }, 60_000);
});

test.each([
  [endOfInput, 0],
  [interruption, 130],
])(
  'without an answer the folder is not trusted (%j)',
  async (key, code) => {
    const cwd = tempDirectory({ '.lathe/settings.json': '{"permissions": {"allow": ["write_file"]}}' });
    const HOME = tempDirectory();
    const at = terminal(['call', 'list_directory', JSON.stringify({ path: cwd })], { cwd, env: { HOME } });
    await at.shows('Trust this folder?');
    at.type(key);
    expect(await at.exited()).toBe(code);
    const again = terminal(['call', 'list_directory', JSON.stringify({ path: cwd })], { cwd, env: { HOME } });
    await again.shows('Trust this folder?');
  },
  60_000,
);
