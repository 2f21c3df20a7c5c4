import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collect } from '../../../testing/agent-kit.js';
import { hasProgram } from '../../../testing/programs.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { ScriptedModel } from './models/replay/scripted.js';
import { openAgent } from './open-agent.js';

const never = new AbortController().signal;

/** Settings by which a repository makes git run a program. */
const running = [
  'core.fsmonitor',
  'core.pager',
  'core.sshCommand',
  'core.editor',
  'diff.external',
  'filter.x.clean',
  'filter.x.smudge',
  'gpg.program',
  'credential.helper',
];

// SB17
test.skipIf(!hasProgram('git'))('Lathe never runs programs that a repository configures for git', async () => {
  const canary = join(tempDirectory(), 'canary');
  const root = tempDirectory({ 'a.txt': 'alpha\n', '.gitattributes': '* filter=x diff=x\n' });
  const home = tempDirectory();
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, stdio: 'ignore' });
  git('init');
  for (const key of running) git('config', key, `touch ${canary}; false`);
  git('status');
  expect(existsSync(canary)).toBe(true);
  rmSync(canary);

  const lathe = await createAgentLathe({ cwd: root, env, home });
  onTestFinished(() => lathe.close());
  const calls = [
    { name: 'list_directory', args: { path: root } },
    { name: 'glob', args: { pattern: '**/*' } },
    { name: 'grep_search', args: { pattern: 'alpha' } },
    { name: 'read_file', args: { absolute_path: join(root, 'a.txt') } },
  ];
  const model = new ScriptedModel([{ calls }, { text: 'done' }]);
  const events = await collect(openAgent(lathe, { model }).prompt('Look around.', never));
  expect(JSON.stringify(events)).toContain('alpha');
  expect(existsSync(canary)).toBe(false);
});
