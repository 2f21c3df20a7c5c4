import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ContainedProgram } from '../../process/run/contained-program.js';
import { StdioTransport } from './stdio-transport.js';

/** A program with this input that notes how it ends. */
function programWith(stdin: Writable): ContainedProgram & { ends: number } {
  const program = {
    ends: 0,
    pid: 1,
    stdin,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exited: new Promise<never>(() => undefined),
    end: async () => {
      program.ends++;
      return [];
    },
    unref: () => undefined,
  };
  return program;
}

const deaf = () => new Writable({ write: () => undefined });

test('RM06: a server that does not read its input is disconnected before the memory fills up', async () => {
  const program = programWith(deaf());
  const transport = new StdioTransport(Promise.resolve(program));
  await transport.start();
  const megabyte = 'x'.repeat(1024 ** 2);
  for (let id = 0; id < 40; id++) transport.send({ jsonrpc: '2.0', id, result: { megabyte } }).catch(() => undefined);
  expect(program.stdin.writableLength).toBeLessThan(34 * 1024 ** 2);
  await transport.close();
  expect(transport.problem).toContain('does not read');
  expect(program.ends).toBe(1);
});

test('closing a transport before it has started ends its program', async () => {
  const program = programWith(deaf());
  const transport = new StdioTransport(Promise.resolve(program));
  await transport.close();
  expect(program.ends).toBe(1);
});
