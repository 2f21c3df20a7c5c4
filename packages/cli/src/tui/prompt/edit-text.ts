import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The person's editor as program and arguments. `code --wait` is split at spaces and never passes through a shell. */
export function editorCommand(env: Readonly<Record<string, string | undefined>>, preferred?: string): string[] {
  const command = preferred ?? env['VISUAL'] ?? env['EDITOR'] ?? (process.platform === 'win32' ? 'notepad' : 'vi');
  return command.trim().split(/\s+/);
}

/** Opens a copy of the text in an editor and returns the saved text; `undefined` if the editor failed. */
export async function editText(
  text: string,
  name: string,
  [program = 'vi', ...args]: string[],
): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'lathe-edit-'));
  const path = join(directory, basename(name) || 'text');
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    const child = spawn(program, [...args, path], { stdio: 'inherit' });
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(1));
      child.on('close', resolve);
    });
    return code === 0 ? await readFile(path, 'utf8') : undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
