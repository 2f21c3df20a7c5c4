import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { allAttacks } from '../../../../../testing/attacks/all.js';
import { bundleChild } from '../../../../../testing/bundle.js';
import type { AttackResult } from '../../../../../testing/children/run-attacks.js';
import { isLong, report } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';

/** `npm test` runs a sample. */
const every = isLong ? 1 : 20;
const isPossible = hasProgram('bwrap') && hasProgram('perl') && hasProgram('python3');
const isRoot = process.getuid?.() === 0;

async function runAttacks(user: readonly string[]): Promise<AttackResult[]> {
  const script = await bundleChild('run-attacks');
  chmodSync(dirname(script), 0o755);
  const [program, ...args] = [...user, process.execPath, script, JSON.stringify({ every })];
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

const users: Record<string, string[]> = {
  'this user': [],
  // Without a name in /etc/passwd, which nothing here needs.
  ...(isRoot && isLong && { 'an ordinary user': ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'] }),
};

// SB01 SB02 SB06 SB07
test.skipIf(!isPossible).each(Object.entries(users))(
  'no attack gets out of the sandbox of %s',
  async (name, user) => {
    const results = await runAttacks(user);
    expect(results.filter(({ achieved, state }) => achieved.length > 0 || state !== 'run')).toEqual([]);
    expect(results).toHaveLength(Math.ceil(allAttacks.length / every));
    report('attacks on the sandbox', results.length, { user: name });
  },
  isLong ? 3_600_000 : 120_000,
);
