import { existsSync, readdirSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import type { Launch } from '../run/contained-program.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { Sandbox } from './sandbox.js';

const rights = { workspace: true, network: false, home: false, files: false, secrets: false };

/** Runs commands in a workspace two levels below `/tmp`. `meanwhile` runs between the plan of a sandbox and its start. */
function workspace({ files = {}, roots = [''], userHome = outsideDirectory({}) }: WorkspaceOptions) {
  const root = realpathSync(tempDirectory(files));
  const latheHome = new LatheHome(tempDirectory());
  const paths = roots.map((name) => join(root, name));
  const sandbox = new Sandbox({ mode: 'required', roots: paths, latheHome, userHome, path: process.env['PATH'] ?? '' });
  onTestFinished(() => sandbox.close());
  const runner = new CommandRunner(latheHome);
  const run = async (command: string, meanwhile = () => undefined as void) => {
    const cwd = paths[0] ?? root;
    const prepared = await sandbox.prepare(cwd, rights);
    const wrap = (argv: readonly string[]): Launch => {
      // Nobody watches, so that the mounts alone must hold.
      const { watch: _, ...launch } = prepared?.(argv) ?? { argv };
      meanwhile();
      return launch;
    };
    const env = { ...childEnvironment(process.env), HOME: userHome, TMPDIR: '/tmp' };
    const limits = { timeoutMs: 20_000, signal: new AbortController().signal };
    return runner.run({ command, cwd, env, wrap }, limits);
  };
  return { root, run };
}

interface WorkspaceOptions {
  files?: Record<string, string>;
  roots?: string[];
  userHome?: string;
}

// SB07
describe.skipIf(!hasProgram('bwrap'))('what bubblewrap mounts', () => {
  test('a directory that is swapped for a symlink before it is mounted makes nothing writable', async () => {
    const userHome = outsideDirectory({ '.cargo/bin/workflows/tool': '' });
    const tools = join(userHome, '.cargo/bin');
    const { root, run } = workspace({ files: { '.github/workflows/ci.yml': 'mine\n' }, userHome });
    const result = await run('touch ~/.cargo/bin/new .github/new', () => {
      // The second attempt finds it swapped.
      if (existsSync(join(root, 'away'))) return;
      renameSync(join(root, '.github'), join(root, 'away'));
      symlinkSync(relative(root, tools), join(root, '.github'));
    });
    expect(result.ending).toEqual({ type: 'exit', code: 1 });
    expect(readdirSync(tools)).toEqual(['workflows']);
  });

  test('a folder of the workspace inside another one, replaced by a symlink', async () => {
    const outside = outsideDirectory({ 'inner/secret': 'SECRET' });
    const { root, run } = workspace({ files: { 'packages/inner/a': '' }, roots: ['', 'packages/inner'] });
    await run(`mv packages p; ln -s ${outside} packages`);
    expect((await run('cat packages/inner/secret; touch packages/inner/new')).output.text()).not.toContain('SECRET');
    expect(readdirSync(join(outside, 'inner'))).toEqual(['secret']);
    expect(existsSync(join(root, 'p/inner/a'))).toBe(true);
  });

  // The root of the machine is at /oldroot while bubblewrap makes directories for its mounts.
  test('the way to the workspace in the /tmp of the session cannot be replaced', async () => {
    const outside = outsideDirectory({ kept: '' });
    const { root, run } = workspace({ files: { 'ws/a': '' }, roots: ['ws'] });
    expect(root).toMatch(/^\/tmp\//);
    const first = await run(`mv ${root} ${root}.old; ln -s /oldroot${outside} ${root}`);
    expect(first.output.text()).toContain('busy');
    expect((await run('ls')).output.text()).toBe('a\n');
    expect(readdirSync(outside)).toEqual(['kept']);
  });

  test('the way to a toolchain in a directory that the session may write to cannot be replaced', async () => {
    const outside = outsideDirectory({ kept: '' });
    const userHome = outsideDirectory({ '.cache/huggingface/hub/model': 'm' });
    const { run } = workspace({ userHome });
    const way = '~/.cache/huggingface';
    const first = await run(`mv ${way} ~/.cache/h; ln -s /oldroot${outside} ${way}`);
    expect(first.output.text()).toContain('busy');
    expect((await run(`cat ${way}/hub/model`)).output.text()).toBe('m');
    expect(readdirSync(outside)).toEqual(['kept']);
  });
});
