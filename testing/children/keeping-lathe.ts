import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { BackgroundCommands } from '../../packages/core/src/process/run/background.js';
import { childEnvironment } from '../../packages/core/src/process/run/environment.js';
import { KeptCommands } from '../../packages/core/src/process/run/kept-commands.js';
import { CommandRunner } from '../../packages/core/src/process/run/run-command.js';
import { Sandbox } from '../../packages/core/src/process/sandbox/sandbox.js';

/** Starts commands in the background, kept or not, says their ids and leaves properly when its input ends. */
const { root, home, mode, commands } = JSON.parse(process.argv[2] ?? '');
const latheHome = new LatheHome(home);
const background = new BackgroundCommands(new CommandRunner(latheHome), new KeptCommands(latheHome));
const sandbox = new Sandbox({ mode, roots: [root], latheHome, userHome: '/nonexistent' });

async function main(): Promise<void> {
  const ids: string[] = [];
  for (const { command, isKept } of commands) {
    const wrap = await sandbox.prepare(
      root,
      { workspace: true, network: false, home: false, files: false, secrets: false },
      { isKept },
    );
    const request = { command, cwd: root, env: childEnvironment(process.env), isKept, ...(wrap && { wrap }) };
    ids.push((await background.start(request)).id);
  }
  process.stdout.write(JSON.stringify(ids));
  for await (const _ of process.stdin);
  await background.stopAll();
}

void main();
