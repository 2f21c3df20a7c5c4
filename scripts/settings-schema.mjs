// Writes docs/settings.schema.json and the table of docs/settings.md from the table of settings. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSettings } from '../packages/core/dist/settings/keys.js';
import { describeShape } from '../packages/core/dist/settings/shape.js';
import { settingsDocument, settingsSchema } from './settings-pages.mjs';

const docs = join(import.meta.dirname, '..', 'docs');
writeFileSync(join(docs, 'settings.schema.json'), `${JSON.stringify(settingsSchema(allSettings), null, 1)}\n`);
const page = join(docs, 'settings.md');
const between = /(<!-- settings -->\n).*?(<!-- \/settings -->)/s;
writeFileSync(
  page,
  readFileSync(page, 'utf8').replace(
    between,
    (_, start, end) => `${start}${settingsDocument(allSettings, describeShape)}\n${end}`,
  ),
);
