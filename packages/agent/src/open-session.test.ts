import { chmodSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { collect, faults } from '../../../testing/agent-kit.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { askedText, Conversation } from './loop/conversation.js';
import { ScriptedModel, type ScriptStep } from './models/replay/scripted.js';
import { type OpenSessionOptions, openSession } from './open-session.js';
import { readTranscript } from './session/read-transcript.js';

const never = new AbortController().signal;

interface Place {
  root: string;
  home: string;
}

const place = (): Place => ({ root: tempDirectory({ 'a.txt': 'alpha\n' }), home: tempDirectory() });

async function open(
  { root, home }: Place,
  steps: readonly ScriptStep[],
  options: Partial<OpenSessionOptions> & { env?: Record<string, string> } = {},
) {
  const { env = {}, ...rest } = options;
  const lathe = await createAgentLathe({ cwd: root, env: { PATH: process.env['PATH'], ...env }, home });
  onTestFinished(() => lathe.close());
  const model = new ScriptedModel(steps);
  const session = await openSession(lathe, { model, ...rest });
  onTestFinished(() => session.close());
  return { lathe, model, session };
}

const read = (root: string, id = 'r1') => ({
  id,
  name: 'read_file',
  args: { absolute_path: join(root, 'a.txt') },
});

function transcriptIn({ home }: Place): string {
  const sessions = join(home, '.lathe', 'sessions');
  const [folder = ''] = readdirSync(sessions);
  const [file = ''] = readdirSync(join(sessions, folder));
  return join(sessions, folder, file);
}

test('the words of the person are known apart from context files, also after a restart', async () => {
  const here = { root: tempDirectory({ 'AGENTS.md': 'Be brief.' }), home: tempDirectory() };
  const first = await open(here, [{ text: 'Hello.' }]);
  await collect(first.session.prompt(['my name is Ada', 'a file'], never));
  expect(JSON.stringify(first.session.agent.history[0])).toContain('Be brief.');
  await first.session.close();
  const second = await open(here, [], { resume: 'latest' });
  expect(second.session.agent.history.map(askedText)).toEqual(['my name is Ada', '']);
});

test('a resumed session remembers everything', async () => {
  const here = place();
  const first = await open(here, [{ text: 'I look.', calls: [read(here.root)] }, { text: 'alpha' }]);
  await collect(first.session.prompt('what is in a.txt?', never));
  const second = await open(here, [{ text: 'as I said' }], { resume: 'latest' });
  expect(second.session.id).toBe(first.session.id);
  expect(second.session.notes).toEqual([]);
  await collect(second.session.prompt('again?', never));
  expect(second.model.requests[0]?.history.slice(0, 4)).toEqual(first.session.agent.history);
  const third = await open(here, [], { resume: { id: first.session.id } });
  expect(third.session.agent.history).toEqual(second.session.agent.history);
});

test('without an earlier session there is a new one and a note', async () => {
  const { session } = await open(place(), [], { resume: 'latest' });
  expect(session.notes).toEqual(['There is no earlier session here; this is a new one.']);
});

// RP11
test('a call that was pending at a crash is marked as interrupted and not run again', async () => {
  const here = place();
  const write = { id: 'w1', name: 'write_file', args: { file_path: join(here.root, 'x.txt'), content: 'x' } };
  const first = await open(here, [{ calls: [write, { id: 'g1', name: 'gone__tool' }] }, { text: 'ok' }]);
  await collect(first.session.prompt('write', never));
  // As if the process had died while the calls ran: the answer is the last whole line.
  const path = transcriptIn(here);
  const lines = readFileSync(path, 'utf8').split('\n');
  const answer = lines.findIndex((line) => line.includes('"functionCall"'));
  truncateSync(path, Buffer.byteLength(lines.slice(0, answer + 1).join('\n')) + 20);

  const second = await open(here, [{ text: 'I see.' }], { resume: 'latest' });
  expect(second.session.notes.join('\n')).toContain(
    '2 calls were interrupted and do not run again: write_file, gone__tool',
  );
  expect(second.session.notes.join('\n')).toContain('missing now: gone__tool');
  const events = await collect(second.session.prompt('go on', never));
  expect(events.filter(({ type }) => type === 'call-update')).toEqual([]);
  expect(readdirSync(here.root)).toEqual(['a.txt']);
  expect(faults(second.session.agent.history)).toEqual([]);
  expect(JSON.stringify(second.model.requests[0]?.history)).toContain('The call was interrupted');
});

test('what an abort leaves in the history is saved too', async () => {
  const here = place();
  const controller = new AbortController();
  const steps: ScriptStep[] = [
    { text: 'I look.', calls: [read(here.root)] },
    { text: 'half of an answer', delayMs: 0, error: new Error('never mind') },
  ];
  const { session } = await open(here, steps);
  for await (const event of session.prompt('go', controller.signal)) if (event.type === 'call-end') break;
  const stored = await readTranscript(transcriptIn(here));
  expect(stored.messages).toEqual(session.agent.history);
  expect(faults(stored.messages)).toEqual([]);
});

test('a later session continues with the compacted or cleared history', async () => {
  const here = place();
  const long = 'many words '.repeat(3000);
  const { session } = await open(here, [{ text: long }, { text: 'more' }, { text: 'a summary' }, { text: 'after' }]);
  await collect(session.prompt(`one ${long}`, never));
  await collect(session.prompt('two', never));
  await collect(session.compact(never));
  await collect(session.prompt('three', never));
  expect((await readTranscript(transcriptIn(here))).messages).toEqual(session.agent.history);
  session.clear();
  expect((await readTranscript(transcriptIn(here))).messages).toEqual([]);
});

// SL01
test('none of 200 planted secrets is in the saved files', async () => {
  const here = place();
  const secrets = Array.from({ length: 200 }, (_, n) =>
    n % 2 ? `sk-${'s3cr3t'.repeat(4)}${n}` : `planted "value" \\ ${n}-${'q'.repeat(8)}`,
  );
  const env = Object.fromEntries(secrets.map((secret, n) => [`PLANTED_${n}_TOKEN`, secret]));
  writeFileSync(join(here.root, 'a.txt'), secrets.join('\n'));
  const say = secrets.slice(100).join(' ');
  const steps: ScriptStep[] = [
    { reasoning: say, text: say, calls: [read(here.root), { name: 'glob', args: { pattern: secrets[3] } }] },
    { text: say },
  ];
  const { session } = await open(here, steps, { env });
  await collect(session.prompt(`use ${secrets.slice(0, 100).join(' ')}`, never));
  const written = readdirSync(here.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const text = written.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n');
  expect(text).toContain('[redacted]');
  const spelled = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1)];
  expect(secrets.filter((secret) => spelled(secret).some((each) => text.includes(each)))).toEqual([]);
});

test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
  'with a read-only home the session stays in memory, with one warning',
  async () => {
    const here = place();
    const { session } = await open(here, [{ text: 'one' }, { text: 'two' }]);
    chmodSync(here.home, 0o500);
    onTestFinished(() => chmodSync(here.home, 0o700));
    const events = [...(await collect(session.prompt('a', never))), ...(await collect(session.prompt('b', never)))];
    expect(events.filter(({ type }) => type === 'notice')).toHaveLength(1);
    expect(session.agent.history).toHaveLength(4);
  },
);

// RP05
test('a session that cannot be saved continues with one warning', async () => {
  const here = place();
  const { session, lathe } = await open(here, [{ text: 'one' }, { text: 'two' }]);
  await lathe.home.directory();
  writeFileSync(lathe.home.file('sessions'), 'a file where a folder should be');
  const events = [...(await collect(session.prompt('a', never))), ...(await collect(session.prompt('b', never)))];
  expect(events.filter(({ type }) => type === 'notice')).toHaveLength(1);
  expect(session.agent.history).toHaveLength(4);
});

// RX16
test('however a transcript is damaged, every call in it has exactly one result after loading', async () => {
  const here = place();
  const calls = [read(here.root, 'c1'), read(here.root, 'c2')];
  const steps = Array.from({ length: 6 }, (_, n) => (n % 2 ? { text: `answer ${n}` } : { text: 'look', calls }));
  const { session } = await open(here, steps);
  for (const prompt of ['a', 'b', 'c']) await collect(session.prompt(prompt, never));
  const lines = readFileSync(transcriptIn(here), 'utf8').trimEnd().split('\n');
  const path = join(here.home, 'damaged.jsonl');
  const damage = fc.array(
    fc.record({ at: fc.nat(lines.length - 1), how: fc.constantFrom('drop', 'twice', 'tear', 'swap') }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(damage, async (changes) => {
      const damaged = changes.reduce(apply, lines);
      writeFileSync(path, `${damaged.join('\n')}\n`, { mode: 0o600 });
      const { messages } = await readTranscript(path);
      const repaired = new Conversation(messages).messages;
      expect(faults(repaired)).toEqual([]);
      expect(new Conversation(repaired).messages).toEqual(repaired);
    }),
    { numRuns: 150 },
  );
});

function apply(lines: readonly string[], { at, how }: { at: number; how: string }): string[] {
  const result = [...lines];
  const line = result[at] ?? '';
  if (how === 'drop') result.splice(at, 1);
  if (how === 'twice') result.splice(at, 0, line);
  if (how === 'tear') result[at] = line.slice(0, line.length / 2);
  if (how === 'swap') result.push(...result.splice(at, 1));
  return result;
}
