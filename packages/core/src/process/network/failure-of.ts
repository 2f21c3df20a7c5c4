import { spawn } from 'node:child_process';

/** Runs a program; returns `undefined` if it exits with 0, otherwise what it printed on stderr. */
export function failureOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {}, cwd: '/', timeout: 5_000 });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(0, 300);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      resolve(code === 0 ? undefined : stderr.trim() || `${program} ended with ${signal ?? `code ${code}`}`);
    });
  });
}
