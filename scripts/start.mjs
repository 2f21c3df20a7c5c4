// npm start -- <arguments of lathe>
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setup } from './setup.mjs';

setup();
const program = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.cjs');
// npm changes into the package; the person's own directory is in INIT_CWD.
const child = spawn(process.execPath, [program, ...process.argv.slice(2)], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
