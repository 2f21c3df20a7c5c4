import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const session = '0a0a0a0a-0000-4000-8000-000000000001';

/** A home with an old and a new session, and one long output. */
function homeWithState(): { home: string; has: () => string[] } {
  const home = tempDirectory();
  const files: Record<string, number> = {
    [`sessions/p/${session}.jsonl`]: 40,
    'sessions/p/0b0b0b0b-0000-4000-8000-000000000002.jsonl': 2,
    'spill/run-1/a.log': 1,
  };
  for (const [name, days] of Object.entries(files)) {
    const path = join(home, '.lathe', name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, 'x'.repeat(2048));
    utimesSync(path, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400);
  }
  const has = () => Object.keys(files).filter((name) => existsSync(join(home, '.lathe', name)));
  return { home, has };
}

test('clean removes by the settings, and asks before it removes more', { timeout: 60_000 }, async () => {
  const { home, has } = homeWithState();
  const clean = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram(['clean', ...args], { home });
    return { code, lines: stdout.trim().split('\n'), stderr, left: has().length };
  };
  expect(await clean('--dry-run')).toEqual({
    code: 0,
    lines: ['sessions  2.0 KB in 1 file would be removed'],
    stderr: '',
    left: 3,
  });
  expect(await clean()).toMatchObject({ lines: ['sessions  2.0 KB in 1 file removed'], left: 2 });
  expect(await clean('--all')).toMatchObject({
    code: 3,
    lines: ['sessions  2.0 KB in 1 file would be removed', 'spill     2.0 KB in 1 file would be removed'],
    stderr: expect.stringContaining('--yes'),
    left: 2,
  });
  expect(await clean('spill', '--older-than', '0', '--yes')).toMatchObject({ code: 0, left: 1 });
  expect(await clean('--older-than', '90')).toMatchObject({ code: 0, lines: ['Nothing removed.'] });
  expect(await clean('everything')).toMatchObject({ code: 2 });
  const doctor = await runProgram(['doctor'], { home });
  expect(doctor.stdout).toMatch(/ok {4}state: sessions 2\.0 KB in 1 file, .*\(kept for 30 days, up to 500 MB each/);
});

test('in a terminal, clean takes yes for an answer', { timeout: 60_000 }, async () => {
  const { home, has } = homeWithState();
  const at = terminal(['clean', '--all'], { cwd: home, env: { HOME: home } });
  await at.shows('[y/N]');
  at.type('y\r');
  expect(await at.exited()).toBe(0);
  expect(has()).toEqual([]);
});

test('audit shows who decided what', { timeout: 60_000 }, async () => {
  const home = tempDirectory({ 'a.txt': 'a' });
  const call = (tool: string, args: object, ...flags: string[]) =>
    runProgram(['call', tool, JSON.stringify(args), ...flags], { home, env: { MY_API_KEY: 'a-very-secret-value' } });
  await call('read_file', { absolute_path: join(home, 'a.txt') });
  await call('run_shell_command', { command: 'touch made a-very-secret-value' });
  await call('run_shell_command', { command: 'touch made' }, '--yolo', '--sandbox', 'off');
  await call('read_file', { nonsense: 1 });
  const audit = async (...args: string[]) => (await runProgram(['audit', ...args], { home })).stdout.trim().split('\n');
  const rows = (await audit()).map((line) => line.split(/ {2,}/).slice(2).join(' | '));
  expect(rows).toEqual([
    'decision | status | tool | call | decided by',
    expect.stringMatching(/^allowed \| success \| read_file \| \S+a\.txt \| \S/),
    expect.stringMatching(/^denied \| error \| run_shell_command \| touch made \[redacted\] \| nobody to ask: \S.*$/),
    expect.stringMatching(/^allowed \| success \| run_shell_command \| touch made \| .*yolo/),
    expect.stringMatching(/^unjudged \| error \| read_file \| .*nonsense.* \| invalid_tool_params$/),
  ]);
  expect(await audit('--denied')).toHaveLength(2);
  expect(await audit('--tool', 'read_file', '--tail', '1')).toEqual([
    expect.any(String),
    expect.stringContaining('unjudged'),
  ]);
  expect(await audit('--since', '2h')).toHaveLength(5);
  expect(await audit('--session', 'ffff')).toEqual(['No calls recorded, or none that match.']);
  expect(JSON.parse((await audit('--json', '--since', '2000-01-01')).join('\n'))).toMatchObject([
    { tool: 'read_file', cwd: home, verdict: { verdict: 'allow' } },
    { tool: 'run_shell_command' },
    { tool: 'run_shell_command' },
    { tool: 'read_file' },
  ]);
  expect((await runProgram(['audit', '--since', 'whenever'], { home })).code).toBe(2);
});
