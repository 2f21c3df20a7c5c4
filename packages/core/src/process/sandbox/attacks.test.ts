import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { allAttacks } from '../../../../../testing/attacks/all.js';
import type { Places } from '../../../../../testing/attacks/world.js';
import { bundleChild } from '../../../../../testing/bundle.js';
import type { AttackResult } from '../../../../../testing/children/run-attacks.js';
import { isLong, report } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';

/** `npm test` runs a sample. */
const every = isLong ? 1 : 20;
const isPossible = hasProgram('bwrap') && hasProgram('perl') && hasProgram('python3');
const isRoot = process.getuid?.() === 0;

/** Root lets the attacks have a place that the sandbox shows and one that it does not. A sample has one in /var/tmp. */
function placesFor(user: number | undefined): { places?: Places } {
  if (!isRoot || !isLong) return {};
  const [shown = '', disk = ''] = ['/opt', '/srv'].map((parent) => {
    const path = mkdtempSync(join(parent, 'lathe-attacks-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    if (user !== undefined) chownSync(path, user, user);
    return path;
  });
  return { places: { shown, disk } };
}

async function runAttacks(user: number | undefined): Promise<AttackResult[]> {
  const script = await bundleChild('run-attacks');
  chmodSync(dirname(script), 0o755);
  const other = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const [program, ...args] = [...other, process.execPath, script, JSON.stringify({ every, ...placesFor(user) })];
  const child = spawn(program, args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return text
    .trimEnd()
    .split('\n')
    .map((line): AttackResult => JSON.parse(line));
}

test('every attack has a name of its own and names what stops it', () => {
  const names = allAttacks.map(({ area, name }) => `${area}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(allAttacks.filter(({ stoppedBy }) => stoppedBy === '')).toEqual([]);
});

const users: Record<string, number | undefined> = {
  'this user': undefined,
  // Without a name in /etc/passwd, which nothing here needs.
  ...(isRoot && isLong && { 'an ordinary user': 54321 }),
};

// SB01 SB02 SB06 SB07
test.skipIf(!isPossible).each(Object.entries(users))(
  'no attack gets out of the sandbox of %s',
  async (_name, user) => {
    const results = await runAttacks(user);
    expect(results.filter(({ achieved, state }) => achieved.length > 0 || state !== 'run')).toEqual([]);
    expect(results).toHaveLength(Math.ceil(allAttacks.length / every));
    report('attacks on the sandbox', results.length);
  },
  isLong ? 3_600_000 : 120_000,
);
