import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A shell command with the verdict it must get, and the kind of command it is an example of. */
export interface CorpusCommand {
  group: string;
  command: string;
}

/** What coding agents type all day: may run without a question. The group "doubtful" may ask. */
export const harmless = read('harmless.txt');
/** Every kind of write, run, escape and exfiltration we know: must never run without a question. */
export const dangerous = read('dangerous.txt');

/** One command per line, `## ` before a group; ⏎ stands for a line break and `<U+00A0>` for a character inside a command. */
function read(file: string): CorpusCommand[] {
  const lines = readFileSync(join(import.meta.dirname, 'shell-corpus', file), 'utf8').split('\n');
  let group = '';
  return lines.flatMap((line) => {
    if (line.startsWith('## ')) group = line.slice(3);
    if (line === '' || line.startsWith('## ')) return [];
    const decoded = line.replace(/<U\+([0-9A-F]{4})>/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    return [{ group, command: decoded.replaceAll('⏎', '\n') }];
  });
}
