// Writes docs/limits.md: the settings that limit something, and the fixed limits with their values, read from the sources.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fixed } from './limits-rows.mjs';
import { root, source, table, writePage } from './page.mjs';

checkThatAllAreNamed();

const sections = Object.entries(fixed).map(
  ([title, rows]) => `### ${title}\n\n${table(['Limit', 'Value', 'In'], rows.map(fixedRow))}`,
);

writePage(
  'limits.md',
  `# Limits

Use this page to look up a limit. Every file, output, request and process has one. \`node scripts/limits-table.mjs\` writes this page from the
sources.

## Settings

You can change these: see [settings.md](settings.md).

${table(['Setting', 'Default', 'Limits'], settingRows())}

## Fixed limits

${sections.join('\n\n')}
`,
  { command: 'node scripts/limits-table.mjs' },
);

function settingRows() {
  const pattern = /'([\w.]+)': setting\(\s*integer\([^)]*\),\s*([^,]+),\s*'([^']+)'/g;
  const files = ['model-settings.ts', 'keys.ts'].map((name) => source(`packages/core/src/settings/${name}`));
  return [...files.join('\n').matchAll(pattern)].map(([, key, value, text]) => [
    `\`${key}\``,
    value === 'undefined' ? '–' : number(value),
    text,
  ]);
}

function fixedRow([file, name, text]) {
  const value = new RegExp(`const ${name} = ([^;]+);`).exec(source(`packages/${file}`))?.[1];
  if (value === undefined) throw new Error(`${file} has no ${name}`);
  return [text, number(value), `[${file.replace('/src', '')}](../packages/${file})`];
}

/** A product, power or shift of numbers, as such limits are written. */
function number(expression) {
  const plain = expression
    .replaceAll(/_|n$/g, '')
    .replaceAll(/(\d+) \*\* (\d+)/g, (_, base, power) => String(Number(base) ** Number(power)));
  const parts = plain.split(/(\*|<<)/);
  const value = parts.reduce((total, part, index) => {
    if (index === 0) return Number(part);
    if (index % 2 === 1) return total;
    return parts[index - 1] === '*' ? total * Number(part) : total * 2 ** Number(part);
  }, 0);
  if (Number.isNaN(value)) throw new Error(`${expression} is not a number`);
  return value.toLocaleString('en');
}

/** A limit that nobody wrote down is a surprise. */
function checkThatAllAreNamed() {
  const named = new Set(
    Object.values(fixed)
      .flat()
      .map(([file, name]) => `${file} ${name}`),
  );
  const found = ['core', 'agent', 'cli', 'fleet'].flatMap((pack) => sourceFiles(`${pack}/src`).flatMap(limitsIn));
  const missing = found.filter((one) => !named.has(one));
  if (missing.length > 0)
    throw new Error(`scripts/limits-rows.mjs does not say what these limit: ${missing.join(', ')}`);
}

function sourceFiles(folder) {
  return readdirSync(join(root, 'packages', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|testing/.test(name))
    .map((name) => `${folder}/${name}`);
}

function limitsIn(file) {
  const constants = source(`packages/${file}`).matchAll(/^(?:export )?const (max[A-Z]\w*) = \d[^;]*;/gm);
  return [...constants].map(([, name]) => `${file} ${name}`);
}
