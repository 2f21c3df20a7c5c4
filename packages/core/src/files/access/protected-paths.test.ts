import { expect, test } from 'vitest';
import { executedNames } from './protected-names.js';
import { protectionOf, secrecyOf } from './protected-paths.js';

// SD01
test('at least sixty kinds of path are protected, each by its own name', () => {
  expect(executedNames.length).toBeGreaterThanOrEqual(60);
  const open = executedNames
    .map((name) => (name.startsWith('/') ? name : `/home/me/app/${name}`).replaceAll('*', 'x'))
    .filter((path) => protectionOf(path) === undefined);
  expect(open).toEqual([]);
});

test.each([
  '/w/.git/hooks/pre-commit',
  '/w/.git/config',
  '/w/sub/.git',
  '/w/.lathe/settings.json',
  '/w/.qwen/settings.json',
  '/w/.vscode/tasks.json',
  '/w/.github/workflows/ci.yml',
  '/w/.mcp.json',
  '/w/AGENTS.md',
  '/w/QWEN.md',
  '/w/packages/a/CLAUDE.md',
  '/w/.agents/skills/x/SKILL.md',
  '/w/.envrc',
  '/home/me/.ssh/authorized_keys',
  '/home/me/.config/autostart/x.desktop',
  '/home/me/.config/systemd/user/x.service',
  '/etc/cron.d/x',
])('%s is protected', (path) => {
  expect(protectionOf(path)).toEqual(expect.any(String));
});

test('the reason names a file as it is written', () => {
  expect(protectionOf('/w/a/AGENTS.md')).toMatch(/^AGENTS\.md is /);
  expect(protectionOf('/w/.git./config')).toMatch(/^\.git is /);
});

// SC05
test.each([
  ['upper case', '/w/.GIT/Hooks/pre-commit'],
  ['our settings in mixed case', '/w/.Lathe/Settings.JSON'],
  ['a trailing dot', '/w/.git./config'],
  ['a trailing space', '/w/.git /config'],
  ['several of them', '/w/.git. . /config'],
  ['full-width letters', '/w/．ｇｉｔ/config'],
  ['a Kelvin sign', '/w/.hus\u212Ay/pre-commit'],
  ['a long s', '/w/.v\u017Fcode/tasks.json'],
  ['a decomposed letter', '/w/.git/cafe\u0301'],
  ['an ignorable character', '/w/.g\u200Cit/config'],
  ['an escaped ignorable character', '/w/.g\\xE2\\x80\\x8Eit/config'],
  ['an NTFS stream', '/w/.git::$INDEX_ALLOCATION/config'],
  ['a short name', '/w/GIT~1/config'],
  ['backslashes', 'C:\\w\\.git\\config'],
])('%s does not hide a protected path', (_, path) => {
  expect(protectionOf(path)).toEqual(expect.any(String));
});

test.each([
  '/w/src/main.ts',
  '/w/Makefile',
  '/w/package.json',
  '/w/.gitignore',
  '/w/.github/ISSUE_TEMPLATE.md',
  '/w/git/config',
  '/w/.env',
  '/w/rootfs/etc/profile',
  '/w/model.pth',
])('%s is ordinary', (path) => {
  expect(protectionOf(path)).toBeUndefined();
  expect(secrecyOf(path)).toBeUndefined();
});

test.each([
  '/home/me/.ssh/id_ed25519',
  '/home/me/.aws/credentials',
  '/home/me/.netrc',
  '/home/me/.gnupg/private-keys-v1.d/x.key',
  '/home/me/.config/gh/hosts.yml',
  '/etc/shadow',
  '/proc/1/environ',
  '/proc/1/task/2/environ',
  '/proc/self/task/2/mem',
  '/etc/shadow-',
  '/etc/gshadow-',
  '/etc/shadow.bak',
  '/etc/security/opasswd',
  '/etc/ssl/private/server.key',
  '/etc/ssh/ssh_host_rsa_key~',
  '/home/me/.netrc~',
  '/home/me/.aws/credentials.old',
  '/home/me/x/logins.json.bak',
])('%s is secret', (path) => {
  expect(secrecyOf(path)).toEqual(expect.any(String));
});

test('known hosts and ssh settings are not secret', () => {
  expect(secrecyOf('/etc/ssh/ssh_host_rsa_key.pub')).toBeUndefined();
  expect(secrecyOf('/proc/1/maps')).toBeUndefined();
  expect(secrecyOf('/w/:x/etc/shadow')).toBeUndefined();
  expect(secrecyOf('/home/me/.ssh/known_hosts')).toBeUndefined();
  expect(secrecyOf('/home/me/.ssh/config')).toBeUndefined();
});
