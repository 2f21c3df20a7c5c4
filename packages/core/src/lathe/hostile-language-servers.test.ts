import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fakeLanguage } from '../../../../testing/language-world.js';
import { isLong } from '../../../../testing/long-run.js';
import { processesWith, uniqueSleep } from '../../../../testing/processes.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import type { LanguageSetting } from '../languages/known-languages.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;
const limitMs = 1_500;

/** The real thing with its usual limits, and edits by the tool, each with its time. */
async function project(languages: Record<string, LanguageSetting>) {
  const root = tempDirectory({ 'a.demo': 'edit 0\nBAD(old)\n', 'a.txt': 'edit 0\n' });
  const lathe = await createLathe({
    cwd: root,
    env: process.env,
    home: tempDirectory(),
    latheHome: tempDirectory(),
    isTrusted: true,
    // Reached within seconds, as the usual 4 GB would be on a larger machine.
    flags: { languages, 'tools.approvalMode': 'yolo', 'tools.sandbox.limits.memoryMb': 500 },
  });
  onTestFinished(() => lathe.close());
  const edit = async (name: string, n: number) => {
    const args = { file_path: join(root, name), old_string: `edit ${n}`, new_string: `edit ${n + 1}` };
    const [begin, used] = [performance.now(), process.cpuUsage()];
    const [outcome] = await lathe.run([{ name: 'edit', args }], never);
    const time = performance.now() - begin;
    const { user, system } = process.cpuUsage(used);
    return { time, cpu: (user + system) / 1_000, status: outcome?.status, text: textOf(outcome?.llmContent ?? '') };
  };
  return { edit, read: (name: string) => readFileSync(join(root, name), 'utf8'), close: () => lathe.close() };
}

const usual = ['hangs', 'floods', 'lies-about-versions', 'crashes', 'eats-memory', 'endless-header', 'tiny-messages'];
const others = ['hangs-at-start', 'old-versions', 'floods-requests', 'huge-message', 'answers-hugely', 'pushes-hugely'];

test.each(isLong ? [...usual, ...others] : usual)(
  'with the usual limits, a server that misbehaves costs an edit 1.5 s and nothing else (%s)',
  { timeout: 120_000, retry: 2 },
  async (fault) => {
    const mark = `server-${uniqueSleep()}`;
    const without = await project({});
    const hostile = await project(fakeLanguage(fault, '', mark));
    // The longest that an edit may take: the limit and an edit without a server, twice because of what else runs here.
    const begin = performance.now();
    await wait(limitMs);
    const plain = await without.edit('a.demo', 0);
    const allowed = 2 * (performance.now() - begin);
    const edits = [];
    for (let n = 0; n < (isLong ? 6 : 1); n++) edits.push(await hostile.edit('a.demo', n));
    // The server misbehaves on, and a file of no language does not notice.
    const other = await hostile.edit('a.txt', 0);
    expect(edits.filter(({ time }) => time > allowed)).toEqual([]);
    // Three checks at most are waited for.
    expect([other, ...edits.slice(3)].filter(({ time }) => time > allowed - limitMs)).toEqual([]);
    // However busy the machine is: the server does not keep this process busy.
    expect([other, ...edits].filter(({ cpu }) => cpu > plain.cpu + limitMs / 2)).toEqual([]);
    expect(edits.map(({ status }) => status)).toEqual(edits.map(() => 'success'));
    expect(edits.map(({ text }) => text).join('\n')).not.toMatch(/New problems|STALE|old problem/);
    expect(hostile.read('a.demo')).toBe(`edit ${edits.length}\nBAD(old)\n`);
    await hostile.close();
    expect(processesWith(mark)).toEqual([]);
  },
);
