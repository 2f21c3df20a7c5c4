import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { modelVariables } from './lathe-program.js';
import { modelServer, type ServerScript } from './model-server.js';
import { processesWith, uniqueSleep } from './processes.js';
import { tempDirectory } from './temp-directory.js';

/** Installed by scripts/acp-client.mjs, which also runs this file. */
const cache = join(import.meta.dirname, '../bench/.work/acp-client/node_modules');
const node = join(cache, `node-${process.platform}-${process.arch}/bin/node`);
const program = join(import.meta.dirname, '../packages/cli/dist/main.cjs');
const isInstalled = process.env['LATHE_ACP_CLIENT'] !== undefined && existsSync(node);

/** acpx in a project of its own, with a scripted model behind `lathe acp`. */
async function acpx(script: ServerScript) {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const home = tempDirectory();
  const server = await modelServer(script.map((turn) => (typeof turn === 'function' ? turn : inside(turn, cwd))));
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...modelVariables('openai', server.url) };
  const run = (...args: string[]) =>
    new Promise<{ code: number | null; output: string }>((resolve) => {
      const agent = ['--agent', `${process.execPath} ${program} --cwd ${cwd} acp`, '--cwd', cwd, '--ttl', '1'];
      const child = spawn(node, [join(cache, 'acpx/dist/cli.js'), ...agent, ...args], { cwd, env, stdio: 'pipe' });
      let output = '';
      child.stdin.end();
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
      child.on('close', (code) => resolve({ code, output }));
    });
  // acpx keeps a process of its own for a while, which writes to its home directory.
  onTestFinished(async () => {
    await expect.poll(() => processesWith(cwd), { timeout: 30_000 }).toEqual([]);
  }, 40_000);
  return { cwd, server, run, read: () => readFileSync(join(cwd, 'a.txt'), 'utf8') };
}

/** The part of acp-factory's types that is used here. */
interface Factory {
  register(name: string, config: { command: string; args: string[]; env: Record<string, string> }): void;
  spawn(name: string, options: FactoryOptions): Promise<FactoryAgent>;
}
interface FactoryOptions {
  permissionMode: 'interactive';
  onFileRead: (path: string) => Promise<string>;
  onFileWrite: (path: string, text: string) => Promise<void>;
}
interface FactoryAgent {
  createSession(cwd: string, options?: { mode?: string }): Promise<FactorySession>;
  loadSession(id: string, cwd: string): Promise<FactorySession>;
  close(): Promise<void>;
}
interface FactorySession {
  id: string;
  modes: string[];
  prompt(text: string): AsyncIterable<FactoryUpdate>;
  interruptWith(text: string): AsyncIterable<FactoryUpdate>;
  respondToPermission(requestId: string, optionId: string): void;
}
interface FactoryUpdate {
  sessionUpdate: string;
  requestId?: string;
  content?: { text?: string };
  options?: { optionId: string; kind: string }[];
}

/** An agent of acp-factory, which speaks the protocol with an older SDK and offers its own texts of files. */
async function factory(script: ServerScript) {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const file = join(cwd, 'a.txt');
  const buffers = new Map([[file, 'one\ntyped, not saved\ntwo\n']]);
  const server = await modelServer(script.map((turn) => (typeof turn === 'function' ? turn : inside(turn, cwd))));
  const { AgentFactory } = (await import(join(cache, 'acp-factory/dist/index.js'))) as { AgentFactory: Factory };
  const env = { HOME: tempDirectory(), ...modelVariables('openai', server.url) };
  AgentFactory.register(cwd, { command: process.execPath, args: [program, 'acp'], env });
  const start = async () => {
    const agent = await AgentFactory.spawn(cwd, {
      permissionMode: 'interactive',
      onFileRead: async (path) => buffers.get(path) ?? readFileSync(path, 'utf8'),
      onFileWrite: async (path, text) => void buffers.set(path, text),
    });
    onTestFinished(() => agent.close());
    return agent;
  };
  /** The words of an answer. `answers` are the kinds of answers to its questions. */
  const words = async (session: FactorySession, updates: AsyncIterable<FactoryUpdate>, answers: string[] = []) => {
    let said = '';
    for await (const { sessionUpdate, requestId = '', content, options } of updates) {
      if (sessionUpdate === 'agent_message_chunk') said += content?.text ?? '';
      const wanted = sessionUpdate === 'permission_request' ? answers.shift() : undefined;
      const chosen = options?.find(({ kind }) => kind === wanted)?.optionId;
      if (chosen !== undefined) session.respondToPermission(requestId, chosen);
      // A question without an answer stays open, and the rest is up to the caller.
      else if (sessionUpdate === 'permission_request') return said;
    }
    return said;
  };
  return { cwd, file, buffers, server, start, words };
}

/** Paths of the script are in the project. */
const inside = (turn: object, cwd: string): object => JSON.parse(JSON.stringify(turn).replaceAll('CWD', cwd)) as object;

const edit = { name: 'edit', args: { file_path: 'CWD/a.txt', old_string: 'two', new_string: '2' } };

describe.skipIf(!isInstalled)(
  'acpx',
  () => {
    test.each([
      ['--approve-all', 'one\n2\n'],
      ['--deny-all', 'one\ntwo\n'],
    ])('a whole task with %s', async (flag, text) => {
      const at = await acpx([{ text: 'I edit.', calls: [edit] }, { text: 'That was it.' }]);
      const { output } = await at.run(flag, 'exec', 'edit it');
      expect(output).toContain('That was it.');
      expect(at.read()).toBe(text);
      expect(at.server.requests).toHaveLength(2);
    });

    test('a session that is resumed by a new process knows the conversation', async () => {
      const at = await acpx([{ text: 'Nice to meet you, Ada.' }, { text: 'You are Ada.' }]);
      expect((await at.run('sessions', 'new')).code).toBe(0);
      expect((await at.run('I am Ada')).output).toContain('Nice to meet you, Ada.');
      await expect.poll(() => processesWith(`${at.cwd}\0acp`).length, { timeout: 30_000 }).toBe(0);
      expect((await at.run('Who am I?')).output).toContain('You are Ada.');
      expect(JSON.stringify(at.server.requests[1]?.body['messages'])).toContain('I am Ada');
    });

    test('a running command is cancelled', async () => {
      const seconds = uniqueSleep();
      const command = { name: 'run_shell_command', args: { command: `sleep ${seconds}` } };
      const at = await acpx([{ calls: [command] }, { text: 'never asked' }]);
      await at.run('sessions', 'new');
      const running = at.run('--approve-all', 'run it');
      await expect.poll(() => processesWith(`sleep\0${seconds}`).length, { timeout: 30_000 }).toBe(1);
      await at.run('cancel');
      await running;
      expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
      expect(at.server.requests).toHaveLength(1);
    });
  },
  120_000,
);

describe.skipIf(!isInstalled)(
  'acp-factory',
  () => {
    test('a no, then a yes: the unsaved text is edited, and the file stays as it is', async () => {
      const at = await factory([{ calls: [edit] }, { text: 'I ask again.', calls: [edit] }, { text: 'That was it.' }]);
      const session = await (await at.start()).createSession(at.cwd, { mode: 'default' });
      expect(session.modes).toEqual(['plan', 'default', 'auto-edit', 'yolo']);
      const said = await at.words(session, session.prompt('edit it'), ['reject_once', 'allow_once']);
      expect(said).toBe('I ask again.That was it.');
      expect(at.buffers.get(at.file)).toBe('one\ntyped, not saved\n2\n');
      expect(readFileSync(at.file, 'utf8')).toBe('one\ntwo\n');
    });

    test('a question is interrupted by another prompt, and a new process loads the session', async () => {
      const at = await factory([{ calls: [edit] }, { text: 'Rather this.' }, { text: 'I know.' }]);
      const agent = await at.start();
      const session = await agent.createSession(at.cwd);
      expect(await at.words(session, session.prompt('edit it'))).toBe('');
      expect(await at.words(session, session.interruptWith('rather that'))).toBe('Rather this.');
      expect(at.buffers.get(at.file)).toContain('typed, not saved\ntwo');
      await agent.close();
      const loaded = await (await at.start()).loadSession(session.id, at.cwd);
      expect(await at.words(loaded, loaded.prompt('what did I say?'))).toContain('I know.');
      expect(JSON.stringify(at.server.requests[2]?.body['messages'])).toContain('rather that');
    });
  },
  120_000,
);
