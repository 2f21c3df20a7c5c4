import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { group } from '../case.mjs';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'packages', 'cli', 'dist', 'main.cjs');
const server = join(root, 'testing', 'children', 'bad-mcp-server.mjs');
const broken = ['exit-at-start', 'never-answers', 'half-frame', 'closes-stdout', 'drip'];
const typed = 'zqz';

/** A home whose settings name this many servers, every second one broken. */
function homeWith(count, folder) {
  const servers = Array.from({ length: count }, (_, index) => {
    const fault = index % 2 === 0 ? 'none' : broken[((index - 1) / 2) % broken.length];
    return [`s${index}`, { command: process.execPath, args: [server, fault] }];
  });
  mkdirSync(join(folder, '.lathe'), { recursive: true });
  writeFileSync(join(folder, '.lathe', 'settings.json'), JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  return folder;
}

/** Milliseconds from the start of the program to the first key that it shows. */
function firstKey(HOME) {
  const begin = performance.now();
  const env = { PATH: process.env.PATH, TERM: 'xterm-256color', HOME };
  const child = spawn(process.execPath, [program, 'console'], { cols: 100, rows: 40, cwd: HOME, env });
  return new Promise((resolve, reject) => {
    let [shown, time] = ['', 0];
    child.onData((data) => {
      if (!shown.includes('is the console') && (shown + data).includes('is the console')) child.write(typed);
      shown += data;
      if (time > 0 || !shown.includes(typed)) return;
      time = performance.now() - begin;
      // It ends its servers, then itself.
      child.kill('SIGTERM');
    });
    child.onExit(() => (time > 0 ? resolve(time) : reject(new Error('the program ended before it showed the key'))));
  });
}

export const cases = group('servers', [
  {
    name: 'a hundred servers, half of them broken: how much later the first key is shown',
    note: 'the program in a terminal, with and without servers in turns; the difference of each pair',
    contestants: {
      lathe: async ({ scratch }) => {
        const [none, hundred] = [0, 100].map((count) => homeWith(count, join(scratch, String(count))));
        return {
          run: async () => {
            const alone = await firstKey(none);
            const beside = await firstKey(hundred);
            return { count: Math.round(beside - alone), time: beside, memory: 0, stall: 0 };
          },
        };
      },
    },
    unit: 'ms later',
    goals: [{ metric: 'count', limit: 300 }],
    timeoutMs: 60_000,
    rounds: 7,
  },
]);
