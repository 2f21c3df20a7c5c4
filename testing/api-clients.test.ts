import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { agentServer } from './agent-server.js';
import { buildProgram } from './lathe-program.js';
import { tempDirectory } from './temp-directory.js';

/** Set by scripts/api-clients.mjs, which makes the client and runs this file. */
const cache = process.env['LATHE_API_CLIENTS'];

beforeAll(buildProgram, 300_000);

test.skipIf(cache === undefined)('a client generated from the OpenAPI document runs a whole task', async () => {
  const cwd = tempDirectory();
  const file = join(cwd, 'a.txt');
  const calls = [{ name: 'write_file', args: { file_path: file, content: 'made\n' } }];
  const { url, token } = await agentServer([{ calls }, { text: 'It is written.' }], { cwd });
  const client = spawn(process.execPath, [join(cache ?? '', 'task.js'), url.origin, token, 'write a.txt']);
  expect(JSON.parse(await text(client.stdout))).toEqual({ answer: [{ text: 'It is written.' }], files: [file] });
});
