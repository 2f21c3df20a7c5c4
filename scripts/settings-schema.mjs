// Writes docs/settings.schema.json and the table of docs/settings.md from the table of settings. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsDocument } from '../packages/core/dist/settings/settings-document.js';
import { settingsSchema } from '../packages/core/dist/settings/settings-schema.js';

const docs = join(import.meta.dirname, '..', 'docs');
writeFileSync(join(docs, 'settings.schema.json'), `${JSON.stringify(settingsSchema(), null, 1)}\n`);
const page = join(docs, 'settings.md');
const between = /(<!-- settings -->\n).*?(<!-- \/settings -->)/s;
writeFileSync(
  page,
  readFileSync(page, 'utf8').replace(between, (_, start, end) => `${start}${settingsDocument()}\n${end}`),
);
