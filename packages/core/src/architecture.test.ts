import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/**
 * Who may import whom. A layer sees the layers above it in this list, and itself. Layers that stand side by side
 * (files, process, web, settings) see each other only where `also` says so.
 */
const layers: { name: string; beside?: string; also?: string[] }[] = [
  { name: 'content' },
  { name: 'errors' },
  { name: 'text' },
  { name: 'files', beside: 'capability' },
  { name: 'process', beside: 'capability', also: ['files'] },
  { name: 'web', beside: 'capability', also: ['files'] },
  { name: 'settings', beside: 'capability', also: ['files'] },
  { name: 'tools' },
  { name: 'policy' },
  { name: 'scheduler' },
  { name: 'hooks' },
  { name: 'discovery', beside: 'source' },
  { name: 'mcp', beside: 'source' },
  { name: 'models', beside: 'agent' },
  { name: 'session', beside: 'agent', also: ['models'] },
  { name: 'agent', beside: 'agent', also: ['models', 'session'] },
  { name: 'lathe' },
  { name: 'index' },
];

/** Packages that exactly one folder may import. */
const owners: Record<string, string> = {
  '@modelcontextprotocol/': 'mcp',
  unbash: 'process',
  undici: 'web',
  '@vscode/ripgrep': 'files',
};

const src = import.meta.dirname;
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);
const layerOf = (file: string) => file.replace(/\.ts$/, '').split('/')[0] ?? '';

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...statements].map(([, fixed, lazy]) => fixed ?? lazy ?? '');
}

function mayImport(from: string, to: string): boolean {
  const [a, b] = [layers.findIndex(({ name }) => name === from), layers.findIndex(({ name }) => name === to)];
  if (from === to) return true;
  const [layer, target] = [layers[a], layers[b]];
  if (!layer || !target) return false;
  const areNeighbours = layer.beside !== undefined && layer.beside === target.beside;
  return areNeighbours ? (layer.also?.includes(to) ?? false) : b < a;
}

test.each(files)('%s imports only what its layer sees', (file) => {
  const layer = layerOf(file);
  expect(
    layers.map(({ name }) => name),
    `${file} belongs to no layer`,
  ).toContain(layer);
  const offences = importsOf(file).filter((specifier) => {
    if (specifier.startsWith('.'))
      return !mayImport(layer, layerOf(normalize(join(dirname(file), specifier))).replace(/\.js$/, ''));
    const owner = Object.entries(owners).find(([name]) => specifier.startsWith(name))?.[1];
    return owner !== undefined && owner !== layer;
  });
  expect(offences).toEqual([]);
});

test('a tool file imports no other tool file', () => {
  const shared = [
    'tools',
    'tool-registry',
    'confirmation',
    'display',
    'target',
    'file-change-tool',
    'search-tool',
    'shell-targets',
    'definition-pin',
  ];
  const offences = files
    .filter((file) => file.startsWith('tools/') && !shared.includes(file.slice(6, -3)))
    .flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('./') && !shared.includes(specifier.slice(2, -3)))
        .map((specifier) => `${file} imports ${specifier}`),
    );
  expect(offences).toEqual([]);
});

test('there are no import cycles', () => {
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts')),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    done.add(file);
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

test('no source file is longer than 300 lines', () => {
  const long = files
    .map((file) => `${file}: ${readFileSync(join(src, file), 'utf8').split('\n').length}`)
    .filter((entry) => Number(entry.split(': ')[1]) > 300);
  expect(long).toEqual([]);
});
