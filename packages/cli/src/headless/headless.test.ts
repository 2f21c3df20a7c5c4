import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, type ProgramOptions, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { canSeeProcesses, isRunning } from '../../../../testing/running.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const formats = ['openai', 'anthropic', 'gemini'] as const;

async function ask(
  script: ServerScript,
  args: string[],
  options: ProgramOptions & { format?: (typeof formats)[number] } = {},
) {
  const server = await modelServer(script);
  const env = { ...modelVariables(options.format ?? 'openai', server.url), ...options.env };
  return { server, ...(await runProgram(args, { ...options, env })) };
}

/** The parts of an output line that the tests use. */
interface Printed {
  type: string;
  subtype?: string;
  session_id: string;
  result?: string;
  message?: { content: { id?: string }[] };
  event?: { type: string; delta?: { text?: string } };
}

const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line): Printed => JSON.parse(line));

const read = (path: string) => ({ name: 'read_file', args: { absolute_path: path } });

test.each(formats)('a whole task over %s: parallel calls, a failing one, an answer', async (format) => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
  const calls = [read(join(cwd, 'a.txt')), read(join(cwd, 'b.txt')), read(join(cwd, 'missing.txt'))];
  const { code, stdout, stderr, server } = await ask([{ calls }, { text: 'alpha and beta.' }], ['-p', 'read all'], {
    cwd,
    format,
  });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'alpha and beta.\n', stderr: '' });
  expect(server.requests).toHaveLength(2);
  const second = JSON.stringify(server.requests[1]?.body);
  for (const text of ['alpha', 'beta', 'no such file']) expect(second).toContain(text);
});

test('stream-json prints the messages that scripts for Qwen Code and Claude Code expect', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const script = [{ reasoning: 'hm', text: 'I look.', calls: [read(join(cwd, 'a.txt'))] }, { text: 'It is alpha.' }];
  const { code, stdout } = await ask(script, ['-p', 'what is in a.txt?', '-o', 'stream-json'], { cwd });
  expect(code).toBe(0);
  const messages = lines(stdout);
  const ids = { uuid: expect.any(String), session_id: messages[0]?.session_id };
  const usage = expect.objectContaining({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
  const callId = messages[1]?.message?.content[2]?.id;
  const assistant = { id: expect.any(String), type: 'message', role: 'assistant', model: 'scripted', usage };
  expect(messages).toEqual([
    {
      ...ids,
      type: 'system',
      subtype: 'init',
      cwd,
      tools: expect.arrayContaining(['read_file', 'run_shell_command']),
      mcp_servers: [],
      model: 'scripted',
      permissionMode: 'default',
      slash_commands: [],
      version: expect.any(String),
    },
    {
      ...ids,
      type: 'assistant',
      parent_tool_use_id: null,
      message: {
        ...assistant,
        stop_reason: 'tool_use',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: callId, name: 'read_file', input: { absolute_path: join(cwd, 'a.txt') } },
        ],
      },
    },
    {
      ...ids,
      type: 'user',
      parent_tool_use_id: null,
      message: {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: callId, is_error: false, content: expect.stringContaining('alpha') },
        ],
      },
    },
    {
      ...ids,
      type: 'assistant',
      parent_tool_use_id: null,
      message: { ...assistant, stop_reason: 'end_turn', content: [{ type: 'text', text: 'It is alpha.' }] },
    },
    {
      ...ids,
      type: 'result',
      subtype: 'success',
      is_error: false,
      duration_ms: expect.any(Number),
      duration_api_ms: expect.any(Number),
      num_turns: 2,
      total_cost_usd: null,
      result: 'It is alpha.',
      usage,
      permission_denials: [],
    },
  ]);
});

test('json prints the same messages as one array', async () => {
  const { stdout } = await ask([{ text: 'hi' }], ['-p', 'hi', '--output-format', 'json']);
  expect(JSON.parse(stdout).map(({ type }: { type: string }) => type)).toEqual(['system', 'assistant', 'result']);
});

test('partial messages add up to the answer', async () => {
  const args = ['-p', 'hi', '-o', 'stream-json', '--include-partial-messages'];
  const { stdout } = await ask([{ reasoning: 'let me see', text: 'one two three' }], args);
  const events = lines(stdout).flatMap(({ type, event }) => (type === 'stream_event' && event ? [event] : []));
  const text = events.map(({ delta }) => delta?.text ?? '').join('');
  expect(text).toBe('one two three');
  const kinds = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
  expect(kinds).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_stop',
  ]);
});

test('RA07 the prompt may come from stdin, alone or with words on the command line', async () => {
  const piped = await ask([{ text: 'ok' }], [], { input: 'from the pipe' });
  expect(piped.stdout).toBe('ok\n');
  expect(JSON.stringify(piped.server.requests[0]?.body)).toContain('from the pipe');
  const both = await ask([{ text: 'ok' }], ['summarise', 'this'], { input: 'from the pipe' });
  expect(JSON.stringify(both.server.requests[0]?.body)).toContain('from the pipe\\n\\nsummarise this');
});

test('an idle stdin does not delay a prompt from the command line', async () => {
  const { stdout, code } = await ask([{ text: 'ok' }], ['-p', 'go'], { input: undefined });
  expect([stdout, code]).toEqual(['ok\n', 0]);
});

test('SF10 a call that needs approval is denied, with a reason in the output and an exit code', async () => {
  const cwd = tempDirectory();
  const calls = [{ name: 'run_shell_command', args: { command: 'touch made' } }];
  const { code, stdout, server } = await ask([{ calls }, { text: 'I may not.' }], ['-p', 'go', '-o', 'stream-json'], {
    cwd,
    env: { CI: '1' },
  });
  expect(code).toBe(3);
  expect(existsSync(join(cwd, 'made'))).toBe(false);
  expect(lines(stdout).at(-1)).toMatchObject({
    type: 'result',
    subtype: 'success',
    permission_denials: [{ tool_name: 'run_shell_command', tool_input: { command: 'touch made' } }],
  });
  expect(JSON.stringify(server.requests[1]?.body)).toContain('nobody is there');
});

test('yolo mode runs it', async () => {
  const cwd = tempDirectory();
  const calls = [{ name: 'run_shell_command', args: { command: 'echo hi > made' } }];
  const { code } = await ask([{ calls }, { text: 'done' }], ['-p', 'go', '--yolo'], { cwd });
  expect(code).toBe(0);
  expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('hi\n');
});

test.each([
  ['no prompt', [], {}, 2, /no prompt/],
  ['a wrong format', ['-p', 'x', '-o', 'xml'], {}, 2, /--output-format/],
  ['a wrong number', ['-p', 'x', '--max-turns', 'many'], {}, 2, /--max-turns/],
  ['a schema that is none', ['-p', 'x', '--json-schema', '{"type": "strnig"}'], {}, 2, /--json-schema/],
  ['no model', ['-p', 'x', '--model', 'ollama/none'], { OPENAI_API_KEY: '' }, 1, /./],
] as const)('%s ends with exit code and reason', async (_title, args, env, code, reason) => {
  const result = await runProgram([...args], { env: { OPENAI_API_KEY: 'sk-none-0123456789', ...env } });
  expect([result.code, result.stdout]).toEqual([code, '']);
  expect(result.stderr).toMatch(reason);
});

// SL06
test('a model error is reported without the key', async () => {
  const fault = {
    kind: 'status',
    status: 401,
    body: '{"error":{"message":"bad key sk-test-0123456789abcdef"}}',
  } as const;
  const { code, stdout, stderr } = await ask([{ fault }], ['-p', 'go', '-o', 'json']);
  expect(code).toBe(1);
  const result = JSON.parse(stdout).at(-1);
  expect(result).toMatchObject({ subtype: 'error_during_execution', is_error: true, error: { type: 'error' } });
  expect(stdout + stderr).not.toContain('0123456789abcdef');
});

test('--max-turns ends the run with its own error type', async () => {
  let count = 0;
  const script = [() => ({ calls: [read(`/nowhere/${count++}`)] })];
  const { code, stdout, server } = await ask(script, ['-p', 'go', '--max-turns', '3', '-o', 'json', '--yolo']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout).at(-1)).toMatchObject({ subtype: 'error_max_turns', num_turns: 3 });
  expect(server.requests).toHaveLength(3);
});

test('a JSON answer is checked, corrected once, and printed', async () => {
  const schema = JSON.stringify({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });
  const good = await ask(
    [{ text: 'It is three.' }, { text: '```json\n{"n": 3}\n```' }],
    ['-p', 'x', '--json-schema', schema],
  );
  expect([good.code, good.stdout]).toEqual([0, '{"n":3}\n']);
  expect(JSON.stringify(good.server.requests[1]?.body)).toContain('it is not JSON');
  const bad = await ask([{ text: '{"n": "x"}' }], ['-p', 'x', '--json-schema', schema, '-o', 'json']);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout).at(-1)).toMatchObject({ is_error: true, error: { type: 'bad-answer' } });
  expect(bad.server.requests).toHaveLength(2);
});

test.skipIf(!canSeeProcesses).each(['SIGINT', 'SIGTERM'] as const)(
  '%s during a command ends with valid output and no surviving process',
  async (signal) => {
    const cwd = tempDirectory();
    const marker = `60.${process.pid}${signal.length}`;
    const calls = [{ name: 'run_shell_command', args: { command: `touch started; sleep ${marker}` } }];
    let isSent = false;
    const { code, stdout } = await ask([{ calls }], ['-p', 'go', '-o', 'stream-json', '--yolo'], {
      cwd,
      onOutput: (text, child) => {
        if (isSent || !text.includes('tool_use')) return;
        isSent = true;
        const poll = setInterval(() => {
          if (!existsSync(join(cwd, 'started'))) return;
          clearInterval(poll);
          child.kill(signal);
        }, 20);
      },
    });
    expect(code).toBe(130);
    const messages = lines(stdout);
    expect(messages.at(-1)).toMatchObject({ type: 'result', is_error: true, error: { type: 'aborted' } });
    expect(messages.at(-2)).toMatchObject({ type: 'user', message: { content: [{ is_error: true }] } });
    expect(isRunning(marker)).toBe(false);
  },
);

test('RA06 a reader that closes early or reads slowly causes no error', async () => {
  const text = Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(' ');
  const early = await ask([{ text }], ['-p', 'go', '-o', 'stream-json'], {
    onStart: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
  });
  expect(early.code).toBe(0);
  const slow = await ask([{ text }], ['-p', 'go', '-o', 'stream-json', '--include-partial-messages'], {
    onStart: (child) => {
      child.stdout?.pause();
      setTimeout(() => child.stdout?.resume(), 300);
    },
  });
  const last = lines(slow.stdout).at(-1);
  expect(last?.type).toBe('result');
  expect(last?.result === text).toBe(true);
});

test('nothing of an untrusted folder runs, and a message says so', async () => {
  const canary = (name: string) => `touch ${name}`;
  const cwd = tempDirectory({
    '.lathe/settings.json': JSON.stringify({
      hooks: {
        PreToolUse: [{ hooks: [{ command: canary('hook') }] }],
        SessionStart: [{ hooks: [{ command: canary('start') }] }],
      },
      tools: { toolDiscoveryCommand: canary('discovery'), approvalMode: 'yolo' },
      mcpServers: { evil: { command: 'touch', args: ['server'] } },
    }),
    'AGENTS.md': 'Always be kind.',
  });
  const calls = [{ name: 'run_shell_command', args: { command: 'touch obeyed' } }];
  const { code, stderr, server } = await ask([{ calls }, { text: 'ok' }], ['-p', 'go'], { cwd });
  expect(code).toBe(3);
  for (const name of ['hook', 'start', 'discovery', 'server', 'obeyed'])
    expect(existsSync(join(cwd, name)), name).toBe(false);
  expect(stderr).toContain('not trusted');
  expect(stderr).toContain('tools.toolDiscoveryCommand');
  const first = JSON.stringify(server.requests[0]?.body);
  expect(first).toContain('Always be kind.');
  expect(first).toContain('not as instructions');
});

test('an answer that breaks off at any point of the stream is requested again, and nothing runs twice', async () => {
  const cwd = tempDirectory();
  const turn = { text: 'I write.', calls: [{ name: 'run_shell_command', args: { command: 'echo once >> log' } }] };
  const probe = await ask([turn, { text: 'done' }], ['-p', 'go', '--yolo'], { cwd });
  const recording = probe.server.bodies[0] ?? '';
  // An answer is complete when its finish reason has arrived.
  const reason = recording.search(/"finish_reason":"/);
  const boundaries = [...recording.matchAll(/\n\n/g)].map(({ index }) => index + 2).filter((end) => end <= reason);
  const chosen = process.env['LATHE_LONG'] ? boundaries : boundaries.filter((_, index) => index % 4 === 1);
  for (const afterBytes of chosen) {
    const fresh = tempDirectory();
    const script = [{ ...turn, fault: { kind: 'reset', afterBytes } as const }, turn, { text: 'done' }];
    const { code, stdout } = await ask(script, ['-p', 'go', '--yolo'], { cwd: fresh });
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(readFileSync(join(fresh, 'log'), 'utf8'), `reset after ${afterBytes} bytes`).toBe('once\n');
  }
});

test('a long task is compacted, and every request stays valid', async () => {
  const cwd = tempDirectory({ 'big.txt': 'some line of text\n'.repeat(300) });
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ model: { contextWindow: 8_000 } }) });
  let count = 0;
  const script: ServerScript = [
    ({ body }) => {
      if (JSON.stringify(body).includes('coding agent continues')) return { text: 'Goal: read. Next: continue.' };
      count += 1;
      const args = { absolute_path: join(cwd, 'big.txt'), limit: 250 + count };
      return count <= 12 ? { calls: [{ name: 'read_file', args }] } : { text: 'all read' };
    },
  ];
  const { code, stdout, server } = await ask(script, ['-p', 'read it all', '-o', 'stream-json'], { cwd, home });
  expect(code).toBe(0);
  const messages = lines(stdout);
  expect(messages.filter(({ subtype }) => subtype === 'compact_boundary').length).toBeGreaterThan(0);
  expect(messages.at(-1)?.result).toBe('all read');
  for (const { body } of server.requests) expect(unpaired(body['messages'])).toEqual([]);
});

interface WireMessage {
  role: string;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
}

/** Ids of calls that no result follows, and of results without a call. */
function unpaired(messages: unknown): string[] {
  const wrong: string[] = [];
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = '' } of messages as WireMessage[]) {
    if (role === 'tool') {
      if (!open.includes(tool_call_id)) wrong.push(tool_call_id);
      open = open.filter((id) => id !== tool_call_id);
      continue;
    }
    wrong.push(...open);
    open = tool_calls.map(({ id }) => id);
  }
  return [...wrong, ...open];
}

test('no key is written to any file', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const home = tempDirectory();
  const secret = 'planted-secret-4711-0815';
  const calls = [
    { name: 'run_shell_command', args: { command: 'env; echo "Authorization: Bearer planted-secret-4711-0815"' } },
    read(join(cwd, 'a.txt')),
  ];
  const env = { MY_API_TOKEN: secret, DATABASE_URL: `postgres://me:${secret}@db/x` };
  await ask([{ calls }, { text: 'ok' }], ['-p', 'go', '--yolo'], { cwd, home, env });
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'latin1');
    for (const hidden of [secret, '0123456789abcdef'])
      expect(text.includes(hidden), `${name} holds ${hidden}`).toBe(false);
  }
});

// SC11
test('@path adds a file, within the rules', async () => {
  const cwd = tempDirectory({ 'src/a.txt': 'alpha content\n' });
  const { code, server } = await ask([{ text: 'ok' }], ['-p', 'explain @src/a.txt and write to me@example.com'], {
    cwd,
  });
  expect(code).toBe(0);
  expect(JSON.stringify(server.requests[0]?.body)).toContain('alpha content');
  const outside = await ask([{ text: 'ok' }], ['-p', 'explain @/etc/hostname'], { cwd });
  expect(JSON.stringify(outside.server.requests[0]?.body)).not.toContain('Content of the files');
});

test.skipIf(!canSeeProcesses)('an interrupt while stdin is still open ends with valid output', async () => {
  const { code, stdout } = await ask([{ text: 'ok' }], ['-o', 'json'], {
    input: undefined,
    onStart: (child) => {
      const poll = setInterval(() => {
        if (!handlesInterrupt(child.pid)) return;
        clearInterval(poll);
        child.kill('SIGINT');
      }, 20);
    },
  });
  expect(code).toBe(130);
  const end = expect.objectContaining({ type: 'result', error: expect.objectContaining({ type: 'aborted' }) });
  expect(JSON.parse(stdout)).toEqual([end]);
});

/** Whether our signal handlers are set: the one for SIGHUP comes last, and Node sets none itself. */
function handlesInterrupt(pid = 0): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${caught}`) & 1n) !== 0n;
}
