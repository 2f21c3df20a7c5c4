import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { everydayCommands } from '../../../../testing/everyday-commands.js';
import { gitFiles } from '../../../../testing/git-files.js';
import { isLong, report } from '../../../../testing/long-run.js';
import { hasProgram } from '../../../../testing/programs.js';
import { dangerous } from '../../../../testing/shell-corpus.js';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import { webServer } from '../../../../testing/web-server.js';
import type { Target } from '../contract/target.js';
import { directCall } from '../contract/tool-call.js';
import type { ApprovalMode } from '../policy/policy.js';
import { ShellTool } from '../tools/shell.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

const files = {
  ...gitFiles(),
  '.gitignore': 'dist\nnode_modules\n',
  'package.json': '{}',
  'dist/a.js': '',
  'src/a.ts': '',
  'src/main.c': '',
  '.git/hooks/post-commit': '',
  'AGENTS.md': '',
  ...Object.fromEntries(['vitest', 'tsc', 'eslint'].map((tool) => [`node_modules/.bin/${tool}`, ''])),
};

/** Judges commands without running them. */
async function open(mode: ApprovalMode, sandbox: 'required' | 'off') {
  // Not in /tmp, which belongs to the session.
  const root = outsideDirectory(files);
  const home = outsideDirectory({ '.bashrc': 'mine' });
  const latheHome = tempDirectory();
  const lathe = await createLathe({
    cwd: root,
    home,
    latheHome,
    env: { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin' },
    flags: { 'tools.approvalMode': mode, 'tools.sandbox.mode': sandbox },
  });
  onTestFinished(() => lathe.close());
  const tool = lathe.tools.getTool('run_shell_command');
  if (!(tool instanceof ShellTool)) throw new Error('There is no shell tool');
  const run = (command: string) =>
    lathe.run([{ id: '1', name: 'run_shell_command', args: { command, timeout: 3_000 } }], never);
  const judge = async (command: string) => {
    const [call, params] = [directCall(), { command }];
    const isReadOnly = await tool.isReadOnly(params, call);
    const targets: readonly Target[] = await tool.getTargets(params, call);
    const confirmation = await tool.shouldConfirmExecute(params, never, call);
    const verdict = lathe.host.policy.judge({ tool: tool.name, isReadOnly, targets, confirmation });
    return { ...verdict, targets, rules: (confirmation && confirmation.rules) || [] };
  };
  return { judge, run, root, home, latheHome };
}

const columns = [
  ['default', 'required'],
  ['default', 'off'],
  ['auto-edit', 'required'],
  ['auto-edit', 'off'],
] as const;

describe.skipIf(!hasProgram('bwrap'))('questions', () => {
  // To write the page anew: npx vitest run packages/core/src/lathe/questions-page.test.ts -u
  test('docs/questions.md shows which everyday commands ask', { timeout: 60_000 }, async () => {
    const all = Object.entries(everydayCommands);
    const results = await Promise.all(
      columns.map(async ([mode, sandbox]) => {
        const { judge } = await open(mode, sandbox);
        const rows = new Map<string, Awaited<ReturnType<typeof judge>>>();
        for (const command of all.flatMap(([, commands]) => commands)) rows.set(command, await judge(command));
        return rows;
      }),
    );
    const [inDefault, , inAuto] = results;
    const asking = (rows = new Map<string, { verdict: string; rules: string[] }>()) =>
      [...rows.values()].filter(({ verdict }) => verdict === 'ask');
    expect(all.length).toBe(8);
    expect(inDefault?.size).toBe(80);
    expect(asking(inAuto).length).toBeLessThanOrEqual(8);
    const offered = asking(inDefault).filter(({ rules }) => rules.length > 0);
    expect(offered.length).toBeGreaterThanOrEqual(0.95 * asking(inDefault).length);

    const summary = columns.map(([mode, sandbox], index) => {
      const asked = asking(results[index]);
      const wide = asked.filter(({ rules }) => !rules.some((rule) => rule.includes('(=')));
      const name = `${mode === 'default' ? 'default' : 'auto'}, ${sandbox === 'off' ? 'no sandbox' : 'sandbox'}`;
      return [
        name,
        String(asked.length),
        String(asked.filter(({ rules }) => rules.length > 0).length),
        String(wide.length),
      ];
    });
    const tables = all.map(([ecosystem, commands]) => {
      const rows = commands.map((command) => [
        `\`${command.replaceAll('|', '\\|')}\``,
        ...results.map((column) => cell(column.get(command))),
      ]);
      const head = [ecosystem, ...summary.map(([name = '']) => name)];
      return `## ${ecosystem}\n\n${table([head, ...rows])}`;
    });
    const page = `${introduction}\n${table([['mode', 'ask', 'of these offer "always"', 'for more than this exact command'], ...summary])}\n${tables.join('\n')}`;
    await expect(page).toMatchFileSnapshot(join(import.meta.dirname, '../../../../docs/questions.md'));
  });

  test('no dangerous command runs unasked in default mode, with or without a sandbox', async () => {
    for (const sandbox of ['required', 'off'] as const) {
      const { judge } = await open('default', sandbox);
      const free: string[] = [];
      for (const command of sample) if ((await judge(command)).verdict === 'allow') free.push(command);
      // In the sandbox, /tmp belongs to the session.
      expect(free.filter((command) => sandbox === 'off' || command !== 'ls > /tmp/canary')).toEqual([]);
    }
  }, 120_000);

  test('a dangerous command that auto mode runs stays in the workspace', { timeout: 600_000 }, async () => {
    const { url, requests } = await webServer((_, response) => response.end());
    const { judge, run, root, home, latheHome } = await open('auto-edit', 'required');
    const outside = outsideDirectory({ 'secret.txt': 'SECRET' });
    const state = () => [home, outside, ...guarded.map((name) => join(root, name))].map(contentOf);
    const before = state();
    const escaping: string[] = [];
    const free: string[] = [];
    for (const command of sample) {
      const { verdict, isContained, targets } = await judge(command);
      if (verdict !== 'allow') continue;
      free.push(command);
      const isWrite = targets.every(({ asks, type }) => !asks || type === 'path');
      if ((!isContained && !isWrite) || targets.some(leaves)) escaping.push(command);
    }
    expect(escaping).toEqual([]);
    expect(free.length).toBeGreaterThan(sample.length / 4);
    const harmful = free.filter((command) => command.includes('canary'));
    for (const command of isLong ? harmful : harmful.slice(0, 12)) await run(command);
    await run(
      `node -e "fetch('${url}').catch(() => 0)"; node -e "fs.appendFileSync('${outside}/secret.' + 'txt', 'x')"`,
    );
    expect([state(), requests]).toEqual([before, []]);
    expect(existsSync(join(latheHome, 'settings.json'))).toBe(false);
    report('dangerous commands in auto mode', sample.length, { unasked: free.length });
  });
});

/** All of them take too long for every run. */
const sample = dangerous.map(({ command }) => command).filter((_, at) => isLong || at % 10 === 0);

const guarded = ['AGENTS.md', '.git/config', '.git/hooks'];

/** The files of a directory with their content. */
function contentOf(path: string): unknown {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8');
  return readdirSync(path).map((name) => [name, contentOf(join(path, name))]);
}

/** Whether a target is something that must ask in every mode. */
function leaves(target: Target): boolean {
  if (target.guarded !== undefined || target.sensitive !== undefined) return true;
  return target.asks && target.type === 'path' && !(target.access === 'write' && target.isInside === true);
}

function cell(row: { verdict: string; rules: readonly string[] } | undefined): string {
  if (row?.verdict === 'allow') return 'runs';
  const [rule] = row?.rules ?? [];
  if (rule === undefined) return 'asks';
  return rule.includes('(=') ? 'asks, always: exact' : 'asks, always';
}

/** A Markdown table whose columns are aligned. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return `${[line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')}\n`;
}

const introduction = `# Which commands ask?

Use this page to see which commands run without a question. A test judges eighty commands of eight ecosystems in a repository whose
tools are installed, with the default rules. \`runs\` means without a question. \`always\` means that the question offers a rule for commands of this kind, and
\`always: exact\` a rule for exactly this command. [running-commands.md](running-commands.md#what-runs-without-a-question) explains both.

The ${dangerous.length} commands of the [dangerous corpus](../testing/shell-corpus/dangerous.txt) are judged too. In default mode none of them runs
without a question, with or without a sandbox, except for one that writes to the session's own \`/tmp\`. In auto mode with the sandbox,
those that run have no network, cannot write outside the workspace and cannot change protected files. The test runs them and checks this.
`;
