import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { childEnvironment } from '../../packages/core/src/process/run/environment.js';
import { CommandRunner } from '../../packages/core/src/process/run/run-command.js';
import type { Ending } from '../../packages/core/src/process/run/running-command.js';
import { Sandbox } from '../../packages/core/src/process/sandbox/sandbox.js';
import { pick, randomFrom } from '../random.js';

/** Runs random commands in the sandbox, one after the other, and prints one line of JSON for each, until its input ends. */
export interface SandboxedRun {
  command: string;
  ending: Ending;
  findings: readonly string[];
  /** What it printed, if the sandbox itself failed. */
  failure?: string;
}

const { root, home, seed } = JSON.parse(process.argv[2] ?? '');
const random = randomFrom(seed);
const latheHome = new LatheHome(home);
const path = process.env['PATH'] ?? '';
const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: '/nonexistent', path });
const runner = new CommandRunner(latheHome);

const again = (attempt: string) => `for i in $(seq 40); do (${attempt}) 2>/dev/null; sleep 0.005; done`;
const commands = [
  'echo hi',
  'ls -la && cat .npmrc .envrc',
  'git status --short && git log --oneline | head -3',
  'mkdir -p build && date > build/out.txt && cat build/out.txt',
  'for i in $(seq 50); do echo $i > src-$i.tmp; done; rm -f src-*.tmp',
  'echo $RANDOM > work-$$.txt && git add work-$$.txt && git -c user.name=A -c user.email=a@b commit -qm work',
  'git stash list; git branch --list; git tag t-$RANDOM',
  'sleep 0.3',
  'grep -r content . --include=*.txt | wc -l',
  again('printf "[core]\\nfsmonitor = PLANTED\\n" >> .git/config'),
  again('echo PLANTED > .envrc'),
  again('echo PLANTED > .npmrc'),
  again('mkdir -p .lathe && echo PLANTED > .lathe/settings.json'),
  again('mkdir -p .git/hooks && echo PLANTED > .git/hooks/pre-push'),
  again('[ -e .git/config.lock ] && printf "[alias]\\nx = PLANTED\\n" >> .git/config.lock'),
  'rm -f .git/logs/HEAD; ln -s /PLANTED .git/logs/HEAD',
  'echo "* filter=PLANTED" > .git/info/attributes',
  'mkdir -p .git/worktrees/w; echo PLANTED > .git/worktrees/w/config.worktree',
  'rm -rf .vscode; echo PLANTED > .vscode',
];

async function runOne(): Promise<SandboxedRun> {
  const command = pick(random, commands);
  const wrap = await sandbox.prepare(root, {
    workspace: true,
    network: false,
    home: false,
    files: false,
    secrets: false,
  });
  const request = {
    command,
    cwd: root,
    env: { ...childEnvironment(process.env), TMPDIR: '/tmp' },
    ...(wrap && { wrap }),
  };
  const result = await runner.run(request, { timeoutMs: 60_000, signal: new AbortController().signal });
  const text = result.output.text();
  const { ending, findings } = result;
  return { command, ending, findings, ...(text.startsWith('bwrap:') && { failure: text.slice(0, 300) }) };
}

async function main(): Promise<void> {
  while (!process.stdin.resume().readableEnded) process.stdout.write(`${JSON.stringify(await runOne())}\n`);
  process.exit();
}

void main();
