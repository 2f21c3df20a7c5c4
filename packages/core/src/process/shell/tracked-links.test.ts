import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { analyzeCommand } from './analyze-command.js';

function repository() {
  const root = tempDirectory({
    'a.txt': 'a',
    'dir/deep/hostname': 'h',
    [`${'a-name-of-some-length/'.repeat(180)}f`]: 'x',
  });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
  git('init', '-q');
  const isUnasked = async (command: string) => {
    const path = '/usr/local/bin:/usr/bin:/bin';
    return (await analyzeCommand(command, { cwd: root, workspaceRoots: [root], home: '/nonexistent', path }))
      .isReadOnly;
  };
  return { root, git, isUnasked };
}

// SA08
test.each(['2', '3', '4'])(
  'git grep needs approval if a symlink replaced a tracked directory, index version %s',
  async (version) => {
    const { root, git, isUnasked } = repository();
    expect(await isUnasked('git grep x')).toBe(true);
    git('config', 'index.version', version);
    git('add', '-A');
    if (version === '3') {
      writeFileSync(join(root, 'b.txt'), '');
      git('add', '-N', 'b.txt');
    }
    expect(await isUnasked('git grep x')).toBe(true);
    expect(await isUnasked('git grep --cached x')).toBe(true);
    rmSync(join(root, 'dir'), { recursive: true });
    mkdirSync(join(root, 'dir'));
    symlinkSync('/etc', join(root, 'dir', 'deep'));
    expect(await isUnasked('git grep x')).toBe(false);
    expect(await isUnasked('cd dir && git grep x')).toBe(false);
    expect(await isUnasked('git -C dir grep x')).toBe(false);
    // Only a path there.
    expect(await isUnasked('git grep x -- --cached .')).toBe(false);
  },
);
