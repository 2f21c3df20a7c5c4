import { spawn } from 'node:child_process';
import { trustedPath } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';

/** Prints the address of a login page and opens it in the browser. */
export async function openBrowser(url: URL, io: Io): Promise<void> {
  io.err(`Log in on this page:\n  ${url.href}`);
  startBrowser(url, io);
}

/** Opens the browser if there is one. The address is a program argument and never passes through a shell. */
export function startBrowser(url: URL, io: Io): void {
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const program = trustedPath(name, { outside: [io.cwd], path: io.env['PATH'] ?? '' });
  const hasScreen = process.platform === 'darwin' || io.env['DISPLAY'] || io.env['WAYLAND_DISPLAY'];
  if (program === undefined || !hasScreen) return;
  const child = spawn(program, [url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
