import { expect, test } from 'vitest';
import type { SandboxRights } from './sandbox-rights.js';
import { seatbeltArguments } from './seatbelt.js';

const options = {
  roots: ['/Users/a/project "x")(allow default'],
  home: '/Users/a',
  places: [{ path: '/Users/a/.cargo/bin', access: 'read' as const }],
  reads: ['/Users/a/notes.txt', '/Users'],
  hidden: ['/Users/a/.lathe'],
  fixed: ['/Users/a/project/check.sh'],
  rights: { workspace: true, network: false, home: false, files: false, secrets: false },
};

test('paths are passed as parameters, so no name can change the profile', () => {
  const [flag, profile, ...rest] = seatbeltArguments(options);
  expect(flag).toBe('-p');
  expect(profile).not.toContain('/Users/a');
  expect(rest.slice(0, 4)).toEqual(['-D', `ROOT_0=${options.roots[0]}`, '-D', 'HIDDEN_0=/Users/a/.lathe']);
  expect(rest.at(-1)).toBe('--');
  expect(rest).toContain('HIDDEN_1=/Users/a/.ssh');
  expect(rest).toContain('FIXED_0=/Users/a/project/check.sh');
});

test('a command cannot write outside the workspace or to protected names, and has no network', () => {
  const lines = profileOf(options.rights).split('\n');
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  expect(at('(deny file-write*)')).toBeGreaterThan(0);
  // The last rule that matches wins, so the order is what protects.
  expect(at('(allow file-write* (subpath (param "ROOT_0")))')).toBeGreaterThan(at('(deny file-write*)'));
  expect(at('/\\.lathe(/|$)')).toBeGreaterThan(at('(allow file-write* (subpath (param "ROOT_0")))'));
  expect(at('/\\.git/(hooks|config|config\\.worktree|commondir)(/|$)')).toBeGreaterThan(
    at('(allow file-write* (subpath (param "ROOT_0")))'),
  );
  expect(at('(deny file-read* file-write* (subpath (param "HIDDEN_0")))')).toBeGreaterThan(at('ROOT_0'));
  expect(at('(deny file-write* (subpath (param "FIXED_0")))')).toBeGreaterThan(
    at('(allow file-write* (subpath (param "ROOT_0")))'),
  );
  expect(lines).toContain('(deny network*)');
});

test('a read-only command cannot write to the workspace, even if that is in a temporary directory', () => {
  const profile = profileOf({ ...options.rights, workspace: false });
  expect(profile).not.toContain('(allow file-write* (subpath (param "ROOT_0")))');
  expect(profile.indexOf('(deny file-write* (subpath (param "ROOT_0")))')).toBeGreaterThan(
    profile.indexOf('(allow file-write* (subpath "/private/tmp")'),
  );
});

test('a right lifts its own limit and no other', () => {
  expect(profileOf({ workspace: true, network: true, home: false, files: false, secrets: false })).not.toContain(
    '(deny network*)',
  );
  expect(profileOf({ workspace: true, network: true, home: false, files: false, secrets: false })).toContain(
    '(deny file-write*)',
  );
  expect(profileOf({ workspace: true, network: false, home: false, files: true, secrets: false })).not.toContain(
    '(deny file-write*)\n',
  );
  expect(profileOf({ workspace: true, network: false, home: false, files: true, secrets: false })).toContain(
    'HIDDEN_0',
  );
});

test('the home directory cannot be read except for toolchains, approved files and the workspace', () => {
  const [, profile = '', ...rest] = seatbeltArguments(options);
  const lines = profile.split('\n');
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  expect(rest).toEqual(expect.arrayContaining(['SHOWN_0=/Users/a/.cargo/bin', 'SHOWN_1=/Users/a/notes.txt']));
  expect(rest.filter((argument) => argument.startsWith('SHOWN_'))).toHaveLength(2);
  const denied = at('(deny file-read* (subpath "/Users") (subpath (param "HOME")))');
  expect(denied).toBeGreaterThan(0);
  for (const name of ['SHOWN_0', 'SHOWN_1', 'ROOT_0'])
    expect(at(`(allow file-read* (subpath (param "${name}")))`)).toBeGreaterThan(denied);
  expect(at('HIDDEN_0')).toBeGreaterThan(at('SHOWN_1'));
  expect(profileOf({ ...options.rights, secrets: true })).not.toContain('(deny file-read* (subpath "/Users")');
  expect(seatbeltArguments({ ...options, roots: ['/Users/a'] })[1]).not.toContain(
    '(deny file-read* (subpath "/Users")',
  );
});

test('parentheses and quotes are balanced', () => {
  const profile = profileOf(options.rights).replace(/#"[^"]*"/g, '""');
  expect(profile.split('(').length).toBe(profile.split(')').length);
  expect((profile.match(/"/g) ?? []).length % 2).toBe(0);
});

function profileOf(rights: SandboxRights): string {
  return seatbeltArguments({ ...options, rights })[1] ?? '';
}
