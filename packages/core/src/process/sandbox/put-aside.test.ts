import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { PutAside } from './put-aside.js';

const before = { type: 'file', bytes: Buffer.from('before\n'), mode: 0o644 } as const;

/** A person whose editor saves by rename, each time with another text. Names the saves that it finds replaced at once. */
const saver = `
const fs = require('node:fs');
const [path, count] = process.argv.slice(1);
const replaced = [];
for (let n = 1; n <= count; n++) {
  const text = 'save ' + n;
  fs.writeFileSync(path + '.mine', text);
  fs.renameSync(path + '.mine', path);
  try {
    if (fs.readFileSync(path, 'utf8') !== text) replaced.push(text);
  } catch {
    replaced.push(text);
  }
}
process.send(replaced);
`;

/** Everything that was put aside. */
function contentsIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

test('what a person saves while a file is replaced is put aside, not lost', async () => {
  const [root, kept] = [tempDirectory({ '.envrc': 'planted' }), tempDirectory()];
  const path = join(root, '.envrc');
  const child = spawn(process.execPath, ['-e', saver, path, '1000'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const messages: unknown[] = [];
  child.once('message', (message) => messages.push(message));
  const aside = new PutAside(kept);
  while (messages.length === 0) {
    aside.replace(path, before);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [replaced] = messages;
  expect(replaced).toEqual(expect.arrayContaining([expect.stringMatching(/^save/)]));
  expect(contentsIn(kept)).toEqual(expect.arrayContaining(replaced as string[]));
  expect(readdirSync(root)).toEqual(['.envrc']);
});

/** Removes everything in a directory, again and again. */
const remover = `
const fs = require('node:fs');
const [root] = process.argv.slice(1);
process.send('begun');
for (;;) for (const name of fs.readdirSync(root)) fs.rmSync(root + '/' + name, { force: true });
`;

test('a program that removes files at the same time does not keep the content from coming back', async () => {
  const [root, kept] = [tempDirectory(), tempDirectory()];
  const path = join(root, '.envrc');
  const child = spawn(process.execPath, ['-e', remover, root], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(child, 'message');
  const aside = new PutAside(kept);
  for (let n = 0; n < 2_000; n++) {
    writeFileSync(path, 'planted');
    aside.replace(path, before);
  }
  child.kill();
  await once(child, 'exit');
  aside.replace(path, before);
  expect(readFileSync(path, 'utf8')).toBe('before\n');
});

test.each([
  ['a file', (path: string) => writeFileSync(path, 'planted'), ['planted']],
  ['a symlink', (path: string) => symlinkSync('/etc/passwd', path), []],
])('%s is replaced by the content from before', (_title, plant, copies) => {
  const [root, kept] = [tempDirectory(), tempDirectory()];
  plant(join(root, '.envrc'));
  new PutAside(kept).replace(join(root, '.envrc'), before);
  expect([readFileSync(join(root, '.envrc'), 'utf8'), contentsIn(kept)]).toEqual(['before\n', copies]);
});
