// Writes the output of `npm run walk -- edit` into docs/architecture.md.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root, source, writePage } from './page.mjs';

const output = execFileSync(process.execPath, [join(root, 'scripts/walk.mjs'), 'edit'], { encoding: 'utf8' });
const page = source('docs/architecture.md').replace(/(?<=\$ npm run walk -- edit\n)[^`]*/, () => output);
writePage('architecture.md', page, { command: 'node scripts/walk-page.mjs' });
