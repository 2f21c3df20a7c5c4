// Pages in docs/ that are made from the sources: written anew, or with --check compared with what is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export const source = (path) => readFileSync(join(root, path), 'utf8');

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((cells) => line(cells))].join('\n');
}

/** `mayLack`: the page is in date as long as all that it says would be said again. */
export function writePage(name, text, { command, mayLack = false }) {
  const path = join(root, 'docs', name);
  if (!process.argv.includes('--check')) return writeFileSync(path, text);
  const there = readFileSync(path, 'utf8');
  const lines = new Set(text.split('\n'));
  if (mayLack ? there.split('\n').every((line) => lines.has(line)) : there === text) return;
  console.error(`docs/${name} is out of date: run ${command}`);
  process.exitCode = 1;
}
