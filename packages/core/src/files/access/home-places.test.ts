import { expect, test } from 'vitest';
import { isWithin } from '../workspace.js';
import { homePlaces, PrivatePlaces } from './home-places.js';
import { secretNames } from './protected-names.js';

test('no place of a toolchain contains a known secret', () => {
  const places = homePlaces({ home: '/home/a', env: {} }).filter(({ access }) => access !== 'own');
  const secrets = secretNames.filter((name) => name.startsWith('.') && !name.includes('*'));
  const exposed = places.filter(({ path }) => secrets.some((name) => isWithin(path, `/home/a/${name}`)));
  expect(exposed).toEqual([]);
});

test.each([
  ['/home/a/apps/node/bin', ['/home/a/apps/node']],
  ['/home/a/bin', ['/home/a/bin']],
  ['/home/a/.fly/bin', ['/home/a/.fly/bin']],
  ['/home/a/.local/share/tool/bin', ['/home/a/.local/share/tool/bin']],
  ['/home/b/.pyenv/shims', ['/home/b/.pyenv']],
  ['/home/a', []],
  ['bin', []],
  ['/data/node/bin', ['/data/node']],
  ['/conda/bin', ['/conda']],
  ['/work/bin', ['/work/bin']],
  ['/data/scripts', ['/data/scripts']],
])('the PATH entry %s shows %j', (entry, shown) => {
  const usual = homePlaces({ home: '/home/a', env: {} }).map(({ path }) => path);
  const paths = homePlaces({ home: '/home/a', env: { PATH: entry }, roots: ['/work/project'] }).map(({ path }) => path);
  expect(paths.filter((path) => !usual.includes(path))).toEqual(shown);
});

test('a variable moves a toolchain, but never shows the whole home directory', () => {
  const env = { CARGO_HOME: '/home/a/tools/cargo', JAVA_HOME: '/home/a', GOROOT: '/' };
  const paths = homePlaces({ home: '/home/a', env }).map(({ path }) => path);
  expect(paths).toContain('/home/a/tools/cargo/registry');
  expect(paths).not.toContain('/home/a/.cargo/registry');
  expect(paths.filter((path) => isWithin(path, '/home/a'))).toEqual([]);
});

test.each([
  ['/home/a/.npmrc', '/home/a/.npmrc is a place where programs keep keys and settings'],
  ['/home/a/.config/sops/age/keys.txt', '/home/a/.config is a place where programs keep keys and settings'],
  ['/home/a/snap/x', '/home/a/snap is a place where programs keep keys and settings'],
  ['/home/b/notes', '/home/b/notes is in another home directory'],
  ['/root', '/root is in another home directory'],
  ['/home/a', undefined],
  ['/home', undefined],
  ['/home/a/notes', undefined],
  ['/home/a/.cargo/registry/src/a.rs', undefined],
  ['/home/a/.cargo/credentials.toml', '/home/a/.cargo is a place where programs keep keys and settings'],
  ['/etc/hosts', undefined],
])('why %s is private: %s', (path, reason) => {
  expect(new PrivatePlaces({ home: '/home/a', env: {} }).reasonFor(path)).toBe(reason);
});
