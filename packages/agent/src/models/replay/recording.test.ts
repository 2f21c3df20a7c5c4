import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool, ToolError } from '@lathe/core';
import { expect, test } from 'vitest';
import { agentKit, collect, endOf } from '../../../../../testing/agent-kit.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { ModelError } from '../model-error.js';
import { RecordingWriter, recordModel } from './recording.js';
import { ReplayModel } from './replay-model.js';
import { ScriptedModel, type ScriptStep } from './scripted.js';

const never = new AbortController().signal;

const look = (text: string) => ({ name: 'look', args: { text } });

/** Records a conversation about `prompts` and returns the file. */
async function record(steps: readonly ScriptStep[], prompts: readonly string[], secrets: string[] = []) {
  const path = join(tempDirectory(), 'traffic.jsonl');
  const { agent } = agentKit([], { model: recordModel(new ScriptedModel(steps), new RecordingWriter(path, secrets)) });
  for (const prompt of prompts) await endOf(agent, prompt);
  return path;
}

const steps = [
  { reasoning: 'hm', text: 'I look.', calls: [look('a'), look('b')] },
  { brokenCalls: [{ name: 'look', problem: 'cut off' }] },
  { text: 'Done.' },
];

test('a replayed conversation is the recorded one, event by event', async () => {
  const path = await record(steps, ['go']);
  const replay = new ReplayModel(path);
  const texts = async (model: ScriptedModel | ReplayModel) =>
    (await collect(agentKit([], { model }).agent.prompt('go', never))).flatMap((event): unknown[] =>
      event.type === 'message-add' ? [event.message] : event.type === 'call-end' ? [event.outcome.status] : [],
    );
  expect(await texts(replay)).toEqual(await texts(new ScriptedModel(steps)));
  expect(replay.remaining).toBe(0);
});

test.each([
  ['another prompt', ['stop'], /request 1 of 3\. Recorded: .*"go".* Now: .*"stop"/],
  ['one prompt more', ['go', 'and on'], /all of its 3 answers/],
])('%s is named as where the replay differs', async (_title, prompts, message) => {
  const { agent } = agentKit([], { model: new ReplayModel(await record(steps, ['go'])) });
  let last = await endOf(agent, prompts[0] ?? '');
  for (const prompt of prompts.slice(1)) last = await endOf(agent, prompt);
  expect(last).toMatchObject({ reason: 'error', message: expect.stringMatching(message) });
});

test('a call that fails now and succeeded then is a difference; another text is not', async () => {
  const path = join(tempDirectory(), 'traffic.jsonl');
  const model = recordModel(
    new ScriptedModel([{ calls: [{ name: 'try', args: {} }] }, { text: 'Done.' }]),
    new RecordingWriter(path, []),
  );
  await endOf(agentKit([], { model, extraTools: [trying(() => 'one')] }).agent, 'go');
  const replayWith = (answer: () => string) =>
    endOf(agentKit([], { model: new ReplayModel(path), extraTools: [trying(answer)] }).agent, 'go');
  expect(await replayWith(() => 'two')).toMatchObject({ reason: 'done', text: 'Done.' });
  const failing = () => {
    throw new ToolError('execution_failed', 'no');
  };
  expect(await replayWith(failing)).toMatchObject({
    reason: 'error',
    message: expect.stringMatching(/request 2 of 2\. Recorded: .*"isError":false.* Now: .*"isError":true/),
  });
});

function trying(answer: () => string) {
  return defineTool({
    name: 'try',
    displayName: 'Try',
    description: 'Tries.',
    kind: 'read',
    parameterSchema: { type: 'object', properties: {} } as const,
    execute: async () => ({ llmContent: answer(), returnDisplay: '' }),
  });
}

test('a failure of the model is replayed as one', async () => {
  const path = await record([{ error: new ModelError('quota', 'No money left.') }], ['go']);
  const { agent } = agentKit([], { model: new ReplayModel(path) });
  expect(await endOf(agent, 'go')).toMatchObject({ reason: 'error', message: 'No money left.' });
});

test('SL01: no secret is in the file, however it came into the conversation, and the replay still fits', async () => {
  const secret = 'hunter2-hunter2';
  const planted = [
    { text: `your key is sk-abcdefghijklmnopqrstuv and ${secret}`, calls: [look(`authorization: ${secret}`)] },
    { text: 'ok' },
  ];
  const prompt = `use ${secret} at https://me:letmein-123@host/`;
  const path = await record(planted, [prompt], [secret]);
  expect(readFileSync(path, 'utf8')).not.toMatch(/hunter2|sk-abc|letmein/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { agent } = agentKit([], { model: new ReplayModel(path, [secret]) });
  expect(await endOf(agent, prompt)).toMatchObject({ reason: 'done', text: 'ok' });
});

test('a file that cannot be written is reported before a model is asked', () => {
  const folder = tempDirectory({ 'sub/x': '' });
  for (const path of [join(folder, 'missing', 'x'), join(folder, 'sub')])
    expect(() => new RecordingWriter(path, [])).toThrow(path);
});

test.skipIf(process.platform !== 'linux')('a device is not a recording', () => {
  expect(() => new RecordingWriter('/dev/full', [])).toThrow(/not a recording/);
});

test('an existing file becomes private and is kept until the first answer', async () => {
  const path = await record(steps, ['go']);
  chmodSync(path, 0o644);
  const before = readFileSync(path, 'utf8');
  expect(() => new RecordingWriter(path, [])).not.toThrow();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('a recording is replaced, any other file stays', async () => {
  const path = await record(steps, ['go']);
  expect(() => new RecordingWriter(path, [])).not.toThrow();
  const other = join(tempDirectory({ 'main.ts': 'code' }), 'main.ts');
  expect(() => new RecordingWriter(other, [])).toThrow(/not a recording/);
  expect(readFileSync(other, 'utf8')).toBe('code');
});

test.each([
  ['no recording', () => 'hello\n', /not a recording/],
  ['a newer one', (text: string) => text.replace('"recording":1', '"recording":2'), /not a recording/],
  ['a damaged line', (text: string) => text.slice(0, -20), /damaged/],
  ['an answer without its problems', (text: string) => text.replace(/,"problems":\{\}/, ''), /damaged/],
  ['an answer without its tokens', (text: string) => text.replace('"inputTokens"', '"x"'), /damaged/],
  ['a part that is none', (text: string) => text.replaceAll('"parts":[', '"parts":[null,'), /damaged/],
  ['a question that is none', (text: string) => text.replace('"asked":[', '"asked":[7,'), /damaged/],
])('%s is refused', async (_title, change, message) => {
  const path = await record(steps, ['go']);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  expect(() => new ReplayModel(path)).toThrow(message);
});
