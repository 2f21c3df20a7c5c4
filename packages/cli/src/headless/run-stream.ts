import type { AgentLathe, Session } from '@lathe/agent';
import type { ApprovalMode, PartUnion } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { type Flags, resumeOf, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { openChosenSession } from '../startup/open-chosen-session.js';
import { openLathe, runSessionEndHooks } from '../startup/open-lathe.js';
import { switchModel } from '../startup/open-model.js';
import { JsonOutput } from './json-output.js';
import type { Denial } from './output.js';
import { PermissionRequests } from './permission-requests.js';
import { readMentions } from './read-mentions.js';
import { budgetsOf, exitCode, followPrompt, runInfo } from './run-headless.js';
import { asObject, type Json, streamMessages, userParts } from './stream-messages.js';

/** The modes by the names of Claude Code and Qwen Code. */
const modes = new Map<unknown, ApprovalMode>([
  ['plan', 'plan'],
  ['default', 'default'],
  ['acceptEdits', 'auto-edit'],
  ['auto-edit', 'auto-edit'],
  ['bypassPermissions', 'yolo'],
  ['yolo', 'yolo'],
]);

/**
 * `lathe -p --input-format stream-json`: another program sends prompts, answers and control messages on stdin, one JSON
 * object per line, and reads what happens on stdout. Ends when stdin has ended and the last prompt is done.
 */
export async function runStream(words: readonly string[], flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  if (flags.outputFormat !== 'stream-json' || flags.jsonSchema !== undefined || words.some((word) => word !== ''))
    throw new UsageError(
      '--input-format stream-json needs -o stream-json, no --json-schema, and prompts only on stdin',
    );
  const driver = new StreamDriver(flags, io);
  const lathe = await openLathe(flags, io, { approver: driver.permissions });
  try {
    const options = { flags, io, budgets: budgetsOf(flags), ...resumeOf(flags) };
    const opened = await openChosenSession(lathe, options, signal);
    if (typeof opened === 'string') throw new Error(opened);
    for (const note of opened.notes) io.err(`lathe: ${visibleText(note)}`);
    return await driver.run(lathe, opened.session, signal);
  } finally {
    await runSessionEndHooks(lathe);
    await lathe.close();
  }
}

class StreamDriver {
  readonly permissions: PermissionRequests;
  readonly #flags: Flags;
  readonly #io: Io;
  readonly #output: JsonOutput;
  readonly #send: (message: object) => void;
  readonly #prompts: PartUnion[][] = [];
  #turn = new AbortController();
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(flags: Flags, io: Io) {
    this.#flags = flags;
    this.#io = io;
    this.#send = (message) => io.out(JSON.stringify(message));
    this.#output = new JsonOutput(this.#send, { isPartial: flags.includePartialMessages });
    this.permissions = new PermissionRequests(this.#send, () => this.#turn.abort(new Error('interrupted')));
  }

  async run(lathe: AgentLathe, session: Session, signal: AbortSignal): Promise<number> {
    const { stdin, flush } = this.#io;
    this.permissions.isTrusted = lathe.loaded.isTrusted;
    this.#output.begin(runInfo(lathe, session, this.#io));
    signal.addEventListener('abort', () => stdin.destroy(), { once: true });
    const reading = this.#read(lathe, session, signal);
    let code: number = exitCodes.success;
    for (;;) {
      const prompt = this.#prompts.shift();
      if (signal.aborted || (!prompt && this.#isEnded)) break;
      if (prompt) code = await this.#work(lathe, session, prompt, signal);
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    await reading;
    await flush();
    return code;
  }

  async #work(lathe: AgentLathe, session: Session, prompt: PartUnion[], signal: AbortSignal): Promise<number> {
    const [output, io, denials] = [this.#output, this.#io, [] as Denial[]];
    const before = this.permissions.unanswered;
    this.#turn = new AbortController();
    const ending = AbortSignal.any([signal, this.#turn.signal]);
    const text = prompt.filter((part) => typeof part === 'string').join('\n');
    const files = await readMentions(text, lathe, io, ending);
    const end = await followPrompt(session, [...prompt, ...files], { output, denials, io }, ending);
    output.end({ ...end, denials });
    return exitCode({ ...end, denials, neededApproval: this.permissions.unanswered > before });
  }

  async #read(lathe: AgentLathe, session: Session, signal: AbortSignal): Promise<void> {
    try {
      for await (const message of streamMessages(this.#io.stdin)) {
        const problem = typeof message === 'string' ? message : await this.#take(message, lathe, session, signal);
        if (problem !== undefined)
          this.#output.event({ type: 'notice', level: 'warning', message: `Ignored on stdin: ${problem}` });
        this.#wake();
      }
    } catch (error) {
      if (!signal.aborted) this.#io.err(`lathe: ${errorMessage(error)}`);
    }
    // Work goes on to its end, but nobody is there to be asked.
    this.#isEnded = true;
    this.permissions.close();
    this.#wake();
  }

  /** Returns what is wrong with a message. */
  async #take(message: Json, lathe: AgentLathe, session: Session, signal: AbortSignal): Promise<string | undefined> {
    const { type, request_id, request, response } = message;
    if (type === 'keep_alive' || type === 'control_cancel_request') return undefined;
    if (type === 'control_response') this.permissions.answer(asObject(response));
    if (type === 'control_request')
      this.#send({
        type: 'control_response',
        response: await this.#control(asObject(request), lathe, session, signal).then(
          (result) => ({ subtype: 'success', request_id, response: result }),
          (error: unknown) => ({ subtype: 'error', request_id, error: errorMessage(error) }),
        ),
      });
    if (type === 'control_response' || type === 'control_request') return undefined;
    const parts = type === 'user' ? userParts(asObject(message['message'])['content']) : undefined;
    if (!parts) return 'a message is neither a control message nor one of the user with text or media in base64';
    this.#prompts.push(parts);
    return undefined;
  }

  async #control(request: Json, lathe: AgentLathe, { agent }: Session, signal: AbortSignal): Promise<object> {
    switch (request['subtype']) {
      case 'initialize':
        return this.#initialize(request);
      case 'interrupt':
        this.#turn.abort(new Error('interrupted'));
        return {};
      case 'set_permission_mode': {
        const mode = modes.get(request['mode']);
        if (mode === undefined) throw new Error(`The mode must be one of ${[...modes.keys()].join(', ')}`);
        lathe.policy.mode = mode;
        return { mode };
      }
      case 'set_model': {
        const { model } = request;
        const isNamed = typeof model === 'string' && model !== 'default';
        await switchModel(lathe, agent, isNamed ? model : this.#flags.model, signal);
        return { model: agent.model.id };
      }
      default:
        throw new Error(`There is no control request ${JSON.stringify(request['subtype'])}`);
    }
  }

  /** From now on the program answers questions about calls. */
  #initialize({ hooks, sdkMcpServers, mcpServers, agents }: Json): object {
    const given = Object.entries({ hooks, sdkMcpServers, mcpServers, agents });
    const names = given.flatMap(([name, value]) => (Object.keys(value ?? {}).length > 0 ? name : []));
    if (names.length > 0) throw new Error(`Not supported here, use the settings: ${names.join(', ')}`);
    this.permissions.canAsk = true;
    const capabilities = { can_handle_can_use_tool: true, can_set_permission_mode: true, can_set_model: true };
    return { commands: [], agents: [], models: [], output_style: 'default', account: {}, capabilities };
  }
}
