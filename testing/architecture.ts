import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** A folder or file at the top of `src`. Those that stand side by side see each other only where `also` says so. */
export interface Layer {
  name: string;
  beside?: string;
  also?: string[];
}

/** `owners`: packages that exactly one layer may import. A layer may import those above it in the list, and itself. */
export function testLayers(src: string, layers: readonly Layer[], owners: Readonly<Record<string, string>> = {}): void {
  test.each(filesIn(src).filter(isSource))('%s imports only what its layer sees', (file) => {
    const layer = layerOf(file);
    expect(
      layers.map(({ name }) => name),
      `${file} belongs to no layer`,
    ).toContain(layer);
    const offences = importsOf(src, file).filter((specifier) => {
      if (specifier.startsWith('.')) return !mayImport(layers, layer, layerOf(join(dirname(file), specifier)));
      const owner = Object.entries(owners).find(([name]) => specifier.startsWith(name))?.[1];
      return owner !== undefined && owner !== layer;
    });
    expect(offences).toEqual([]);
  });
}

/** What applies to every package; `packages` are our others that this one may import. */
export function testPackage(src: string, packages: readonly string[]): void {
  const all = filesIn(src);
  const files = all.filter(isSource);

  test('other packages are imported by name, and only those below this one', () => {
    const isForeign = (file: string, specifier: string) => {
      if (specifier.startsWith('@lathe/')) return !packages.some((name) => specifier.startsWith(name));
      if (!specifier.startsWith('.')) return false;
      const target = normalize(join(dirname(file), specifier));
      return target.startsWith('..') && (isSource(file) || !target.startsWith('../../../testing/'));
    };
    const offences = all.flatMap((file) =>
      importsOf(src, file)
        .filter((specifier) => isForeign(file, specifier))
        .map((specifier) => `${file} imports ${specifier}`),
    );
    expect(offences).toEqual([]);
  });

  test('there are no import cycles', () => {
    const known = new Set(files);
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(src, file)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => normalize(join(dirname(file), specifier)).replace(/\.js$/, ''))
          .map((path) => (known.has(`${path}.ts`) ? `${path}.ts` : `${path}.tsx`)),
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

  test('no folder has more than 25 source files', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  });

  test('no two source files have the same name', () => {
    const names = files.map((file) => basename(file)).filter((name) => name !== 'index.ts');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('no source file is longer than 300 lines', () => {
    const long = files
      .map((file) => `${file}: ${readFileSync(join(src, file), 'utf8').split('\n').length}`)
      .filter((entry) => Number(entry.split(': ')[1]) > 300);
    expect(long).toEqual([]);
  });
}

function filesIn(src: string): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
}

const isSource = (file: string) => !/\.test\.tsx?$/.test(file);

/** What a file names after `from` and in `import()`. */
export function importsOf(src: string, file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...statements].map(([, fixed, lazy]) => fixed ?? lazy ?? '');
}

function layerOf(file: string): string {
  return (normalize(file).split('/')[0] ?? '').replace(/\.(?:ts|js)$/, '');
}

function mayImport(layers: readonly Layer[], from: string, to: string): boolean {
  if (from === to) return true;
  const [a, b] = [from, to].map((layer) => layers.findIndex(({ name }) => name === layer));
  const [layer, target] = [layers[a ?? -1], layers[b ?? -1]];
  if (a === undefined || b === undefined || !layer || !target) return false;
  const areNeighbours = layer.beside !== undefined && layer.beside === target.beside;
  return areNeighbours ? (layer.also?.includes(to) ?? false) : b < a;
}
