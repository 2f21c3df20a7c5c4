import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const script = join(import.meta.dirname, '../../../../testing/children/asking-mcp-server.mjs');

/** The console with a server that asks the person. */
async function withServer() {
  const HOME = tempDirectory();
  const server = { command: process.execPath, args: [script] };
  mkdirSync(join(HOME, '.lathe'));
  writeFileSync(join(HOME, '.lathe', 'settings.json'), JSON.stringify({ mcpServers: { asking: server } }));
  const shown = terminal(['console', '--allowed-tools', 'asking__*'], { cwd: tempDirectory({}), env: { HOME } });
  await shown.shows('is the console');
  const type = async (keys: string, wanted: string) => {
    shown.type(keys);
    await shown.shows(wanted);
  };
  // Completion offers the tools when the server has listed them.
  shown.type('asking__g');
  await shown.shows('asking__grow');
  shown.type('\u0015');
  return { ...shown, type };
}

test('SG10: a server gets typed data, and a page opens, only after the person has seen all of it and said yes', async () => {
  const { type, text, raw } = await withServer();
  await type('asking__form\r', 'asks (1 of 3)');
  expect(text()).toContain('Your name\\x1b[2J');
  expect(raw()).not.toContain('\u001b]0;owned');
  await type('Ada\r', 'asks (2 of 3)');
  await type('old\r', 'Enter a whole number.');
  await type('\u001536\r', 'asks (3 of 3)');
  await type('\r', 'Send this answer:');
  expect(text()).toContain('  | The person has agreed already.');
  expect(text()).not.toContain('say why');
  await think();
  await type('y', 'heard {"action":"accept","content":{"name":"Ada","age":36,"colour":"green"}}');

  // Enter alone means no.
  await type('asking__page\r', 'Open this page on evil.example:');
  expect(text()).toContain('https://good.example@evil.example/log?a=1');
  await think();
  await type('\r', 'heard {"action":"decline"}');

  await type('asking__form\r', 'asks (1 of 3)');
  await type('\u001b', 'heard {"action":"cancel"}');
}, 90_000);

test('prompts and resources that a server adds later become commands and mentions', async () => {
  const { type, text } = await withServer();
  await type('/asking:f', '/asking:first');
  await type('\u0015asking__grow\r', 'grown');
  await type('/asking:s', '/asking:second');
  await type('\u0015look at @sec', 'asking:note://second');
  await type('\t', 'look at @asking:note://second ');
  expect(text()).not.toContain('@sec');
}, 90_000);
