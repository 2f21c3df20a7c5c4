// Writes the output of `npm run walk -- edit` into docs/architecture.md.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root, source, writePage } from './page.mjs';

const list = /(?<=\$ npm run walk -- edit\n)[^`]*/;
const output = execFileSync(process.execPath, [join(root, 'scripts/walk.mjs'), 'edit'], { encoding: 'utf8' });
const page = source('docs/architecture.md');
const sorted = (text) => text.split('\n').toSorted().join('\n');
// The order of files that wait for the disk differs from run to run: the same files in another order are not a change.
const isSame = sorted(page.match(list)?.[0] ?? '') === sorted(output);
if (!isSame)
  writePage(
    'architecture.md',
    page.replace(list, () => output),
    { command: 'node scripts/walk-page.mjs' },
  );
