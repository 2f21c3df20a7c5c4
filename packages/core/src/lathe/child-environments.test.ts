import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { yes } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;
const kinds = ['API_KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PRIVATE_KEY', 'COOKIE', 'DSN', 'PLAIN'];
const planted = Object.fromEntries(
  ['OPENAI', 'ANTHROPIC', 'GEMINI', 'DASHSCOPE', 'AWS', 'GITHUB', 'NPM', 'VENDOR'].flatMap((owner) =>
    kinds.map((kind) => [`${owner}_${kind}`, `planted-${owner}-${kind}`]),
  ),
);

// SB11
test('no secret of the environment reaches a command, a hook, a discovered tool or a server', async () => {
  const places = tempDirectory();
  const noting = (name: string) => `env > ${join(places, name)}`;
  const [home, cwd] = [tempDirectory(), tempDirectory()];
  writeFileSync(join(places, 'discover.sh'), `${noting('discovery')}\necho '[{"name":"build"}]'\n`);
  writeFileSync(join(places, 'call.sh'), `${noting('call')}\n`);
  writeFileSync(join(places, 'server.sh'), `${noting('server')}\nexit 1\n`);
  const settings = {
    hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: noting('hook') }] }] },
    mcpServers: { noting: { command: '/bin/sh', args: [join(places, 'server.sh')] } },
    tools: {
      sandbox: 'off',
      toolDiscoveryCommand: `/bin/sh ${join(places, 'discover.sh')}`,
      toolCallCommand: `/bin/sh ${join(places, 'call.sh')}`,
    },
  };
  const latheHome = tempDirectory({ 'settings.json': JSON.stringify(settings) });
  const env = { ...planted, PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' };
  const lathe = await createLathe({ cwd, env, home, latheHome, isTrusted: true, approver: yes });
  onTestFinished(() => lathe.close());
  const discovery = lathe.discover(never);
  await expect.poll(() => existsSync(join(places, 'server')), { timeout: 20_000 }).toBe(true);
  await discovery;
  const shell = { name: 'run_shell_command', args: { command: noting('shell') } };
  const outcomes = await lathe.run([shell, { name: 'build', args: {} }], never);
  expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
  for (const place of ['shell', 'hook', 'discovery', 'call', 'server']) {
    const text = readFileSync(join(places, place), 'utf8');
    expect([place, text.match(/^.*planted.*$/gm)]).toEqual([place, null]);
    expect(text).toContain(`HOME=${home}\n`);
    expect(text).toContain('LANG=C.UTF-8\n');
  }
});
