import { spawn } from 'node:child_process';
import { trustedPath } from '@lathe/core';
import type { Io } from '../io.js';

/** Shows the address and, where there is one, opens the person's browser: an argument of a program, never shell text. */
export async function openBrowser(url: URL, io: Io): Promise<void> {
  io.err(`Log in on this page:\n  ${url.href}`);
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const program = trustedPath(name, { outside: [io.cwd], path: io.env['PATH'] ?? '' });
  const hasScreen = process.platform === 'darwin' || io.env['DISPLAY'] || io.env['WAYLAND_DISPLAY'];
  if (program === undefined || !hasScreen) return;
  const child = spawn(program, [url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
