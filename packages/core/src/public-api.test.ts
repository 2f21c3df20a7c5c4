import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const entries = {
  core: ['index.ts', 'entry-tools.ts', 'entry-mcp.ts', 'entry-discovery.ts', 'entry-testing.ts', 'entry-host.ts'],
  agent: ['index.ts', 'models/index.ts'],
};

interface Exported {
  name: string;
  /** Where it is declared. */
  file: string;
}

function exportsOf(entry: string): Exported[] {
  const text = readFileSync(entry, 'utf8');
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)';/gm)].flatMap(([, names = '', path = '']) =>
    names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      )
      .filter((name) => name !== '')
      .map((name) => ({ name, file: join(entry, '..', path.replace(/\.js$/, '.ts')) })),
  );
}

const published = Object.entries(entries).flatMap(([name, files]) =>
  files.map((file) => ({ entry: `${name}/${file}`, names: exportsOf(join(root, 'packages', name, 'src', file)) })),
);

describe.each(published)('$entry', ({ names }) => {
  test('every name has a doc comment', () => {
    const bare = names.filter(({ name, file }) => !hasDocComment(readFileSync(file, 'utf8'), name));
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test('every name is used by another package, the docs or a test of what is published', () => {
    const unused = names.filter(({ name }) => !users.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    expect(unused.map(({ name }) => name)).toEqual([]);
  });
});

test('the main entry fits on a page', () => {
  expect(published[0]?.names.length).toBeLessThanOrEqual(60);
});

function hasDocComment(text: string, name: string): boolean {
  const declared = new RegExp(
    `\\*/\\n(?:// oxlint[^\\n]*\\n)?export (?:abstract |async |declare )*(?:class|interface|type|function\\*?|const) ${name}\\b`,
  );
  return declared.test(text);
}

/** The text of everything that uses our libraries from outside. */
const users = ['packages/agent/src', 'packages/cli/src', 'docs', 'testing', 'bench'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|tsx|md|mjs)$/.test(file) && !/(?:^|\/)index\.ts$|limits\.md$|safety\.md$/.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8')),
);
