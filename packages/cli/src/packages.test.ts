import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../../testing/lathe-program.js';
import { hasProgram } from '../../../testing/programs.js';
import { commandNames } from './command-line/command-names.js';

const root = join(import.meta.dirname, '../../..');

interface Manifest {
  name: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  files?: string[];
}

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
}

const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const manifests = ['core', 'agent', 'cli'].map((name): Manifest => JSON.parse(textOf(`packages/${name}/package.json`)));
const lock: { packages: Record<string, Locked> } = JSON.parse(textOf('package-lock.json'));
const locked = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
/** The runtime dependencies of an installation. */
const shipped = locked.filter(([, { dev }]) => !dev);

/** The published files, by package. */
let contents: Record<string, string[]> = {};

beforeAll(() => {
  buildProgram();
  contents = Object.fromEntries(['core', 'agent', 'cli'].map((name) => [name, filesOf(name)]));
}, 300_000);

function filesOf(name: string): string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
    cwd: join(root, 'packages', name),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files = [] } = {}]: { files?: { path: string }[] }[] = JSON.parse(output);
  return files.map(({ path }) => path);
}

/** An optional part of BullMQ, which only @lathe/fleet needs: its script looks for a build that came with it. */
const isOfQueue = (path: string) => path.includes('msgpackr-extract');

// SM01
test('dependencies are pinned to versions without known vulnerabilities', () => {
  const versions = manifests.flatMap(({ dependencies, optionalDependencies }) =>
    Object.entries({ ...dependencies, ...optionalDependencies }),
  );
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  // Builds of other platforms for development are named only (scripts/complete-lock.mjs); nothing shipped is among them.
  const isNamedOnly = ({ dev, optional, integrity }: Locked) => dev && optional && integrity === undefined;
  const unpinned = locked.filter(
    ([path, entry]) => !entry.integrity?.startsWith('sha512-') && !isNamedOnly(entry) && !isOfQueue(path),
  );
  expect(unpinned.map(([path]) => path)).toEqual([]);
  const old = [
    ['undici', 7, 18],
    ['@modelcontextprotocol/client', 2, 0],
    ['@modelcontextprotocol/server', 2, 0],
  ] as const;
  for (const [name, major, minor] of old) {
    const found = shipped.filter(([path]) => path.endsWith(`node_modules/${name}`));
    expect(found.length).toBeGreaterThan(0);
    for (const [path, { version = '' }] of found) {
      const [a = 0, b = 0] = version.split('.').map(Number);
      expect([path, a > major || (a === major && b >= minor)]).toEqual([path, true]);
    }
  }
});

// SM02
test('no install scripts run', () => {
  const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'preprepare', 'postprepare'];
  expect(manifests.flatMap(({ scripts = {} }) => Object.keys(scripts).filter((name) => hooks.includes(name)))).toEqual(
    [],
  );
  const withScripts = shipped.filter(([path, { hasInstallScript }]) => hasInstallScript && !isOfQueue(path));
  expect(withScripts.map(([path]) => path)).toEqual([]);
});

// SM04
test('the packages contain only files built from existing sources', () => {
  const { cli = [], ...libraries } = contents;
  const allowed =
    /^(?:package\.json|README\.md|LICENSE|bin\/lathe\.cjs|dist\/main\.cjs|dist\/lathe\.1|dist\/sbom\.cdx\.json|dist\/THIRD_PARTY_NOTICES\.txt|dist\/chunks\/[\w-]+\.cjs)$/;
  expect(cli.filter((path) => !allowed.test(path))).toEqual([]);
  expect(cli).toContain('dist/main.cjs');
  const sourceOf = (path: string) => path.replace(/^dist/, 'src').replace(/(?:\.d\.ts|\.js)$/, '.ts');
  for (const [name, paths] of Object.entries(libraries)) {
    const isBuilt = (path: string) =>
      /^dist\/bundle\/(?:(?:chunks\/)?[\w-]+\.js|sbom\.cdx\.json|THIRD_PARTY_NOTICES\.txt)$/.test(path) ||
      (/^dist\/.*(?:\.d\.ts|\.js)$/.test(path) && existsSync(join(root, 'packages', name, sourceOf(path))));
    expect(paths.filter((path) => !isBuilt(path) && !/^(?:package\.json|README\.md|LICENSE)$/.test(path))).toEqual([]);
    expect(paths).toContain('dist/index.d.ts');
  }
  expect(
    Object.values(contents)
      .flat()
      .filter((path) => /\.test\.|\.map$|\.env|\.tsbuildinfo/.test(path)),
  ).toEqual([]);
});

test.each(['core', 'agent', 'fleet', 'cli'])('%s has a README, a licence, a description and keywords', (name) => {
  expect(filesOf(name)).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
  expect(JSON.parse(textOf(`packages/${name}/package.json`))).toMatchObject({
    description: expect.stringMatching(/\.$/),
    license: 'MIT',
    keywords: expect.arrayContaining(['agent', 'llm']),
  });
});

// SM04
test('published files contain no paths of the build machine', () => {
  const texts = Object.entries(contents).flatMap(([name, paths]) =>
    paths.map((path) => join(root, 'packages', name, path)),
  );
  expect(texts.filter((path) => readFileSync(path, 'utf8').includes(root))).toEqual([]);
});

test('the bill of materials lists every package that has a notice', () => {
  for (const directory of ['packages/cli/dist', 'packages/core/dist/bundle']) {
    const notices = readFileSync(join(root, directory, 'THIRD_PARTY_NOTICES.txt'), 'utf8');
    const noticed = [...notices.matchAll(/^## (\S+) (\d\S*) \(/gm)].map(([, name, version]) => `${name}@${version}`);
    const { components }: { components: { name: string; version: string }[] } = JSON.parse(
      readFileSync(join(root, directory, 'sbom.cdx.json'), 'utf8'),
    );
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    expect(listed).toEqual(expect.arrayContaining(noticed));
    expect(new Set(listed).size).toBe(listed.length);
    expect(noticed.length).toBeGreaterThan(5);
  }
});

test.skipIf(!hasProgram('man'))('the manual page shows every command, without a warning', () => {
  const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', join(root, 'packages/cli/dist/lathe.1')], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '140', LC_ALL: 'C.UTF-8' },
  });
  expect(stderr).toBe('');
  const headings = stdout.split('\n').filter((line) => /^LATHE [A-Z]/.test(line));
  expect(headings).toEqual(commandNames.map((name) => `LATHE ${name.toUpperCase()}`));
});
