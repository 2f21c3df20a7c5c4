import { expect, test } from 'vitest';
import { childEnvironment } from './environment.js';

const planted = Object.fromEntries(
  ['API_KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'CREDENTIALS', 'PRIVATE_KEY', 'AUTH', 'SESSION', 'COOKIE', 'DSN'].flatMap(
    (suffix) =>
      Array.from({ length: 20 }, (_, index) => [`VENDOR${index}_${suffix}`, `planted-${index}-${suffix}`] as const),
  ),
);

// SB11
test('none of 200 planted secrets is passed on, ordinary variables are', () => {
  const ordinary = { PATH: '/usr/bin', HOME: '/home/a', LANG: 'C.UTF-8', LC_ALL: 'C', TERM: 'dumb', TMPDIR: '/tmp' };
  expect(Object.keys(planted)).toHaveLength(200);
  expect(childEnvironment({ ...planted, ...ordinary })).toEqual(ordinary);
});

// SD07
test.each([
  'OPENAI_API_KEY',
  'DASHSCOPE_API_KEY',
  'GEMINI_API_KEY',
  'ANTHROPIC_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'GITHUB_TOKEN',
  'NPM_TOKEN',
  'SSH_AUTH_SOCK',
  'DOCKER_HOST',
  'DBUS_SESSION_BUS_ADDRESS',
  'BASH_ENV',
  'ENV',
  'LD_PRELOAD',
  'NODE_OPTIONS',
  'PROMPT_COMMAND',
  'BASH_FUNC_ls%%',
])('%s is not passed on', (name) => {
  expect(childEnvironment({ [name]: 'planted' })).not.toHaveProperty([name]);
});

test('a proxy address with a password is not passed on', () => {
  const source = { HTTPS_PROXY: 'http://me:secret@proxy:3128', HTTP_PROXY: 'http://proxy:3128' };
  expect(childEnvironment(source)).toMatchObject({ HTTP_PROXY: 'http://proxy:3128' });
  expect(childEnvironment(source)).not.toHaveProperty('HTTPS_PROXY');
});

test('relative entries of PATH are dropped, so that no directory decides which program runs', () => {
  expect(childEnvironment({ PATH: '.:/usr/bin::bin:/bin' })['PATH']).toBe('/usr/bin:/bin');
});

test('settings add names and values', () => {
  const environment = childEnvironment({ MY_FLAG: '1', PATH: '/bin' }, { allow: ['MY_*'], set: { MODE: 'test' } });
  expect(environment).toEqual({ MY_FLAG: '1', PATH: '/bin', MODE: 'test' });
});
