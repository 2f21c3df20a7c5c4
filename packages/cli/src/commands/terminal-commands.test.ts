import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

/** A terminal breaks lines anywhere, so spaces and line ends do not count. */
const squeezed = (text: string) => text.replaceAll(/\s+/g, '');
const containing = (text: string) => expect.stringContaining(squeezed(text));

test.each([
  [120, 40],
  [80, 24],
  [60, 18],
])(
  'commands at %d × %d: doctor asks the model, servers of an untrusted folder, help, serve',
  async (columns, rows) => {
    const { url } = await modelServer([{ fault: { kind: 'status', status: 401 } }, { text: 'ok' }]);
    const env = { HOME: tempDirectory(), ...modelVariables('openai', url) };
    const place = { cwd: tempDirectory(), env, columns, rows };
    const run = async (...args: string[]) => {
      const at = terminal(args, place);
      return { code: await at.exited(), text: squeezed(at.text()) };
    };
    const [rejected, answering] = [await run('doctor'), await run('doctor')];
    expect(rejected).toEqual({ code: 1, text: containing('does not answer: openai rejected the key') });
    expect(answering).toEqual({ code: 0, text: containing('ok    model: scripted from openai at') });
    expect(answering.text).toMatch(/answers\(\d+ms\)/);

    const add = ['mcp', 'add', '--scope', 'project', 'mem', 'node'];
    const untrusted = 'This folder is not trusted, so its servers are not used yet: lathe trust';
    expect(await run(...add, 'x.js')).toEqual({ code: 0, text: containing(untrusted) });
    const taken = 'already has a server named mem; remove it first: lathe mcp remove mem';
    expect(await run(...add, 'y.js')).toEqual({ code: 2, text: containing(taken) });
    const state = 'mem (cannot be used: An MCP server of this folder was not started';
    expect(await run('mcp', 'list')).toEqual({ code: 0, text: containing(state) });
    expect(await run('mcp', 'add', '--help')).toEqual({ code: 0, text: containing('--scope user|project') });

    const serve = terminal(['serve'], place);
    await serve.shows('Ctrl+C ends it.');
    expect(squeezed(serve.text())).toEqual(containing('It waits for a client, which usually starts it itself'));
    serve.type('\u0003');
    await serve.exited();
  },
  120_000,
);
