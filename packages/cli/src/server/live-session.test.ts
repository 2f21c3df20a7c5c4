import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiSchemas } from '@lathe/agent/client';
import { describeMismatch } from '@lathe/core/host';
import { expect, onTestFinished, test } from 'vitest';
import { modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { parseInvocation } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { LiveSession } from './live-session.js';

async function opened(script: ServerScript, absenceMs: number) {
  const [cwd, home, model] = [tempDirectory(), tempDirectory(), await modelServer(script)];
  const env = { PATH: process.env['PATH'] ?? '', ...modelVariables('openai', model.url) };
  const streams = {
    stdin: process.stdin,
    terminal: process.stdout,
    out: () => {},
    err: () => {},
    flush: async () => {},
  };
  const io: Io = { args: [], version: '0', env, cwd, home, isInteractive: false, ...streams };
  const { flags } = parseInvocation(['--sandbox', 'off'], new Set());
  const session = await LiveSession.open({ flags, io, absenceMs }, new AbortController().signal);
  onTestFinished(() => session.close());
  return { session, cwd };
}

const write = (cwd: string) => ({ name: 'write_file', args: { file_path: join(cwd, 'a.txt'), content: 'a\n' } });
const touch = { name: 'run_shell_command', args: { command: 'touch a' } };

test('a question waits while somebody follows, and ends as a no when everybody has left', async () => {
  const { session, cwd } = await opened([{ calls: [touch] }, { text: 'Then not.' }], 20);
  const leave = session.log.onAdd(() => undefined);
  session.prompt('go');
  await expect.poll(() => session.info.status).toBe('waiting');
  await expect.poll(() => session.questions.list.length).toBe(1);
  leave();
  await expect.poll(() => session.info.status).toBe('idle');
  const { messages } = session.messages;
  expect(JSON.stringify(messages)).toContain('Nobody was there to answer.');
  expect(existsSync(join(cwd, 'a'))).toBe(false);
});

test('everything that is sent fits the document', async () => {
  const place: string[] = [];
  const script: ServerScript = [() => ({ calls: [write(place[0] ?? '')] }), { text: 'done' }];
  const { session, cwd } = await opened(script, 60_000);
  place.push(cwd);
  expect(describeMismatch(apiSchemas.session, session.info)).toBe(null);
  session.prompt('go');
  await expect.poll(() => session.questions.list.length).toBe(1);
  const [question] = session.questions.list;
  expect(describeMismatch(apiSchemas.question, question)).toBe(null);
  session.questions.answer(question?.id ?? '', { option: 'yes' });
  await expect.poll(() => session.info.status).toBe('idle');
  for (const message of session.messages.messages) expect(describeMismatch(apiSchemas.message, message)).toBe(null);
  const [file] = await session.files();
  expect(describeMismatch(apiSchemas.fileChange, file)).toBe(null);
  expect(describeMismatch(apiSchemas.usage, session.usage)).toBe(null);
  for (let event = session.log.next(0); event; event = session.log.next(event.id))
    expect(describeMismatch(apiSchemas.event, JSON.parse(event.json))).toBe(null);
});
