import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { loadSettings } from './load-settings.js';

function load(
  files: Record<string, string>,
  options: { isTrusted?: boolean; cwd?: string; env?: Record<string, string> } = {},
) {
  const base = tempDirectory(files);
  mkdirSync(join(base, 'work/a/b'), { recursive: true });
  const { isTrusted = true, cwd = 'work', env = {} } = options;
  return loadSettings({
    home: join(base, 'home'),
    latheHome: join(base, 'home/.lathe'),
    root: join(base, 'work'),
    cwd: join(base, cwd),
    systemFile: join(base, 'none'),
    isTrusted,
    env,
  });
}

test('the nearest project file counts, then the nearest in the home folder', async () => {
  const files = {
    'work/.env': 'A=root',
    'work/a/.qwen/.env': 'A=qwen\nB=qwen',
    'work/a/.env': 'A=plain',
    'home/.env': 'A=home\nC=home',
    'home/.qwen/.env': 'C=qwen home\nD=x',
  };
  expect((await load(files, { cwd: 'work/a/b' })).env).toEqual({ A: 'qwen', B: 'qwen', C: 'qwen home', D: 'x' });
  expect((await load(files)).env).toEqual({ A: 'root', C: 'qwen home', D: 'x' });
  expect((await load({ ...files, 'work/a/b/.lathe/.env': 'A=ours' }, { cwd: 'work/a/b' })).env['A']).toBe('ours');
});

test('files above the root are ignored', async () => {
  expect((await load({ '.env': 'A=above' }, { cwd: 'work/a/b' })).env).toEqual({});
});

test('a variable that exists is never changed', async () => {
  expect((await load({ 'work/.env': 'A=file\nB=file' }, { env: { A: 'set' } })).env).toEqual({ A: 'set', B: 'file' });
});

test('quotes, comments and export are supported', async () => {
  const text = '\uFEFFA=1\nexport B="two words" # remark\n# C=3\nD=\'$A\'\n';
  expect((await load({ 'work/.env': text })).env).toEqual({ A: '1', B: 'two words', D: '$A' });
});

// SE02
test('an untrusted folder’s file is not read', async () => {
  const loaded = await load({ 'work/.env': 'A=1\nNODE_OPTIONS=x', 'home/.env': 'B=2' }, { isTrusted: false });
  expect([loaded.env, loaded.ignored]).toEqual([{ B: '2' }, []]);
});

const loaders = [
  'JAVA_HOME',
  'CARGO_HOME',
  'NIX_PATH',
  'NODE_OPTIONS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_EXTRA_CA_CERTS',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'PATH',
  'Path',
  'HOME',
  'USERPROFILE',
  'XDG_CONFIG_HOME',
  'LATHE_HOME',
  'QWEN_HOME',
  'HTTP_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'BASH_ENV',
  'GIT_SSH_COMMAND',
  'EDITOR',
  'PYTHONPATH',
];

// SE02
test.each(loaders)('%s is rejected from every file', async (name) => {
  for (const file of ['work/.env', 'home/.env']) {
    const { env, ignored } = await load({ [file]: `${name}=evil\nOK=1` });
    expect(env).toEqual({ OK: '1' });
    expect(ignored).toMatchObject([{ layer: 'environment', key: name, written: '***' }]);
  }
});

// SE02, SE03
test.each([
  'LATHE_APPROVAL_MODE',
  'LATHE_MODEL',
  'QWEN_X',
  'OPENAI_BASE_URL',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_BASE',
  'AZURE_ENDPOINT',
  'OLLAMA_HOST',
  'DEBUG',
])('%s is rejected from a project’s file and accepted from the home folder', async (name) => {
  expect((await load({ 'work/.env': `${name}=x` })).env).toEqual({});
  expect((await load({ 'home/.env': `${name}=plan` })).env).toEqual({ [name]: 'plan' });
});

test('a variable named __proto__ pollutes nothing', async () => {
  expect((await load({ 'work/.env': '__proto__=evil\nOK=1' })).env).toEqual({ OK: '1' });
});

test('variables of a file are expanded in settings', async () => {
  const files = { 'work/.env': 'TOKEN=abc', 'home/.lathe/settings.json': '{"model": {"apiKey": "${TOKEN}"}}' };
  expect((await load(files)).settings.model.apiKey).toBe('abc');
});

test('a file that is too large is reported and skipped', async () => {
  const loaded = await load({ 'work/.lathe/.env': `A=${'x'.repeat(300_000)}`, 'work/.env': 'B=1' });
  expect(loaded.env).toEqual({ B: '1' });
  expect(loaded.problems).toMatchObject([{ message: expect.stringContaining('larger than') }]);
});
