import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allSettings, settingBySpelling, settingGroups } from './keys.js';
import { parseJsonc, valueOf } from './parse-jsonc.js';
import { describeShape, type Shape } from './shape.js';

interface Pages {
  settingsSchema(settings: typeof allSettings): Node;
  settingsDocument(settings: typeof allSettings, describe: (shape: Shape) => string): string;
}

const pages: Pages = await import(join(import.meta.dirname, '../../../../scripts/settings-pages.mjs'));
const docs = join(import.meta.dirname, '../../../../docs');
// Out of date? npm run build && node scripts/settings-schema.mjs

test('the published schema matches the table', () => {
  const published: unknown = JSON.parse(readFileSync(join(docs, 'settings.schema.json'), 'utf8'));
  expect(published).toEqual(JSON.parse(JSON.stringify(pages.settingsSchema(allSettings))));
});

test('the guide contains the table with every key', () => {
  const page = squeeze(readFileSync(join(docs, 'settings.md'), 'utf8'));
  for (const line of pages.settingsDocument(allSettings, describeShape).split('\n'))
    expect(page).toContain(squeeze(line));
  for (const { key } of allSettings) expect(page).toContain(`\`${key}\``);
});

test('the example of the guide is valid', async () => {
  const page = readFileSync(join(docs, 'settings.md'), 'utf8');
  const example = /```jsonc\n(.*?)```/s.exec(page)?.[1] ?? '';
  const { tempDirectory } = await import('../../../../testing/temp-directory.js');
  const { loadSettings } = await import('./load-settings.js');
  const latheHome = tempDirectory({ 'settings.json': example });
  const sources = { home: latheHome, latheHome, root: tempDirectory(), systemFile: join(latheHome, 'none') };
  expect((await loadSettings({ ...sources, isTrusted: false, env: {} })).problems).toEqual([]);
  expect(Object.keys(Object(valueOf(await parseJsonc(example))))).toEqual(['model', 'permissions', 'mcpServers']);
});

test('every spelling can be completed, older ones are marked', () => {
  const schema = pages.settingsSchema(allSettings);
  for (const [spelling, { key }] of settingBySpelling) {
    const node = find(schema, spelling.split('.'));
    const isMarked = JSON.stringify(node)?.includes('"deprecated":true');
    expect({ spelling, isMarked }).toEqual({ spelling, isMarked: spelling !== key });
  }
});

test('no spelling belongs to two settings, and no key is also a group', () => {
  const spellings = allSettings.flatMap(({ key, also }) => [key, ...also]);
  expect(new Set(spellings).size).toBe(spellings.length);
  expect(allSettings.filter(({ key }) => settingGroups.has(key))).toEqual([]);
});

test('what only tightens has an order of strictness or is a list', () => {
  const unclear = allSettings.filter(
    ({ workspace, merge, strictness }) => workspace === 'tighten' && merge === 'replace' && strictness === undefined,
  );
  expect(unclear).toEqual([]);
});

type Node = { properties?: Record<string, Node>; anyOf?: Node[] };

function find(node: Node | undefined, [name, ...rest]: readonly string[]): Node | undefined {
  if (node === undefined || name === undefined) return node;
  const groups = [node, ...(node.anyOf ?? [])];
  return groups.map((group) => find(group.properties?.[name], rest)).find((found) => found !== undefined);
}

/** The formatter lines up the columns of tables. */
function squeeze(text: string): string {
  return text
    .replace(/-+/g, '-')
    .replace(/[ \t]+/g, ' ')
    .replace(/\| -/g, '|-')
    .replace(/- \|/g, '-|');
}
