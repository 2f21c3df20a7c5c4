// Makes docs/pictures from the real program in a real terminal. Run after a build: node scripts/pictures.mjs
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const program = join(root, 'packages/cli/dist/main.cjs');
const pictures = join(root, 'docs/pictures');
const size = { columns: 96, rows: 32 };
const home = mkdtempSync(join(tmpdir(), 'lathe-pictures-'));
const project = join(home, 'project');
mkdirSync(join(project, 'src'), { recursive: true });
writeFileSync(join(project, 'notes.md'), '# Notes\n');
const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color' };

const outfile = join(home, 'screen-picture.mjs');
await build({
  input: join(root, 'packages/cli/src/demo/screen-picture.ts'),
  platform: 'node',
  output: { file: outfile },
});
const { lightWindow, screenPicture } = await import(pathToFileURL(outfile).href);
mkdirSync(pictures, { recursive: true });

await demo();
await demo({ isLight: true });
await consoleScreen();
await consoleScreen({ isLight: true });
await film();

/** The questions, and the whole task. */
async function demo({ isLight = false } = {}) {
  const at = open(['demo'], { isLight });
  await at.shows('Confirm Edit');
  at.picture(isLight ? 'edit-light' : 'edit', 'A change, before it is made');
  at.type('y');
  await at.shows('node --test');
  at.picture(isLight ? 'command-light' : 'command', 'A command, before it runs');
  at.type('y');
  await at.shows('can undo every change');
  await at.shows('Ask for anything');
  at.picture(isLight ? 'light' : 'task', 'A task, from the question to the answer');
  at.type('/quit\r');
  await at.ended;
}

async function consoleScreen({ isLight = false } = {}) {
  const at = open(['console'], { isLight });
  await at.shows('This is the console');
  at.type(`list_directory path=${project}\r`);
  await at.shows('notes.md');
  at.type('read_file ');
  await pause(500);
  at.picture(isLight ? 'console-light' : 'console', 'The console: tools without a model');
  at.type('\u0003\u0003');
  await at.ended;
}

async function film() {
  const at = open(['demo', '--record', join(pictures, 'demo.svg')]);
  await at.ended;
}

function open(args, { isLight = false } = {}) {
  const screen = new xterm.Terminal({ cols: size.columns, rows: size.rows, scrollback: 1000, allowProposedApi: true });
  const child = spawn(process.execPath, [program, ...args], { cols: size.columns, rows: size.rows, cwd: project, env });
  const background = isLight ? 'rgb:ffff/ffff/ffff' : 'rgb:1e1e/2222/2a2a';
  child.onData((data) => {
    screen.write(data);
    if (data.includes('\u001b]11;?')) child.write(`\u001b]11;${background}\u0007\u001b[?62;22c`);
  });
  const ended = new Promise((resolve) => child.onExit(resolve));
  const text = () =>
    Array.from({ length: screen.buffer.active.length }, (_, row) =>
      screen.buffer.active.getLine(row)?.translateToString(true),
    ).join('\n');
  return {
    text,
    ended,
    type: (keys) => child.write(keys),
    shows: async (wanted) => {
      for (let tries = 0; tries < 300 && !text().includes(wanted); tries++) await pause(100);
      if (!text().includes(wanted)) throw new Error(`not on the screen: ${wanted}\n${text()}`);
      // A question does not listen at once.
      await pause(500);
    },
    picture: (name, title) =>
      writeFileSync(
        join(pictures, `${name}.svg`),
        screenPicture(screen, size, title, ...(isLight ? [lightWindow] : [])),
      ),
  };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
