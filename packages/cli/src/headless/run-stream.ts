import type { AgentLathe, Session } from '@lathe/agent';
import type { PartUnion } from '@lathe/core';
import { Channel } from '@lathe/core/host';
import { approvalModes, modeNamed } from '../command-line/approval-modes.js';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { switchModel } from '../startup/open-model.js';
import { withSession } from '../startup/with-session.js';
import { JsonOutput } from './json-output.js';
import type { Denial } from './output.js';
import { PermissionRequests } from './permission-requests.js';
import { readMentions } from './read-mentions.js';
import { exitCode, followPrompt, runInfo } from './run-headless.js';
import { asObject, type Json, streamMessages, userParts } from './stream-messages.js';

/**
 * `lathe -p --input-format stream-json`: another program sends prompts, answers and control messages on stdin, one JSON
 * object per line, and reads what happens on stdout. Ends when stdin has ended and the last prompt is done.
 */
export async function runStream(words: readonly string[], flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  if (flags.outputFormat !== 'stream-json' || flags.jsonSchema !== undefined || words.some((word) => word !== ''))
    throw new UsageError(
      '--input-format stream-json needs -o stream-json, no --json-schema, and prompts only on stdin',
    );
  const permissions = new PermissionRequests((message) => io.out(JSON.stringify(message)));
  return withSession({ flags, io, approver: permissions }, signal, (session, lathe) => {
    if (typeof session === 'string') throw new Error(session);
    return new StreamDriver({ lathe, session, permissions, flags, io, signal }).run();
  });
}

interface Parts {
  lathe: AgentLathe;
  session: Session;
  permissions: PermissionRequests;
  flags: Flags;
  io: Io;
  signal: AbortSignal;
}

class StreamDriver {
  readonly #parts: Parts;
  readonly #output: JsonOutput;
  readonly #prompts = new Channel<PartUnion[]>();
  /** Prompts without a result. */
  #open = 0;
  /** Ends the first of them. */
  #turn = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#output = new JsonOutput(parts.permissions.send, { isPartial: parts.flags.includePartialMessages });
    parts.permissions.interrupt = () => {
      if (this.#open > 0) this.#turn.abort(new Error('interrupted'));
    };
  }

  async run(): Promise<number> {
    const { lathe, session, io, signal } = this.#parts;
    this.#output.begin(runInfo(lathe, session, io));
    signal.addEventListener('abort', () => io.stdin.destroy(), { once: true });
    let code: number = exitCodes.success;
    for await (const prompt of this.#prompts.until(this.#read())) if (!signal.aborted) code = await this.#work(prompt);
    await io.flush();
    return code;
  }

  async #work(prompt: PartUnion[]): Promise<number> {
    const { lathe, session, permissions, io, signal } = this.#parts;
    const [output, denials, before] = [this.#output, [] as Denial[], permissions.unattended.count];
    const ending = AbortSignal.any([signal, this.#turn.signal]);
    const text = prompt.filter((part) => typeof part === 'string').join('\n');
    const files = await readMentions(text, lathe, io, ending).catch((error: unknown) => {
      if (ending.aborted) return [];
      throw error;
    });
    const end = await followPrompt(session, [...prompt, ...files], { output, denials, io }, ending);
    this.#open -= 1;
    this.#turn = new AbortController();
    output.end({ ...end, denials });
    return exitCode({ ...end, denials, neededApproval: permissions.unattended.count > before });
  }

  async #read(): Promise<void> {
    const { permissions, io, signal } = this.#parts;
    try {
      for await (const message of streamMessages(io.stdin)) {
        const problem = typeof message === 'string' ? message : await this.#take(message);
        if (problem !== undefined)
          this.#output.event({ type: 'notice', level: 'warning', message: `Ignored on stdin: ${problem}` });
      }
    } catch (error) {
      if (!signal.aborted) io.err(`lathe: ${errorMessage(error)}`);
    }
    // The work continues to its end, but nobody can answer questions.
    permissions.close();
  }

  /** Returns what is wrong with a message. */
  async #take(message: Json): Promise<string | undefined> {
    const { permissions } = this.#parts;
    const { type, request_id, request, response } = message;
    if (type === 'keep_alive' || type === 'control_cancel_request') return undefined;
    if (type === 'control_response') return permissions.answer(asObject(response));
    if (type === 'control_request') {
      const answer = await this.#control(asObject(request)).then(
        (result) => ({ subtype: 'success', request_id, response: result }),
        (error: unknown) => ({ subtype: 'error', request_id, error: errorMessage(error) }),
      );
      permissions.send({ type: 'control_response', response: answer });
      return undefined;
    }
    const parts = type === 'user' ? userParts(asObject(message['message'])['content']) : undefined;
    if (!parts) return 'a message is neither a control message nor one of the user with text or media in base64';
    this.#open += 1;
    this.#prompts.push(parts);
    return undefined;
  }

  async #control(request: Json): Promise<object> {
    const { lathe, session, permissions, flags, signal } = this.#parts;
    switch (request['subtype']) {
      case 'initialize': {
        const names = ['hooks', 'sdkMcpServers', 'mcpServers', 'agents'].filter(
          (name) => Object.keys(asObject(request[name])).length > 0,
        );
        if (names.length > 0) throw new Error(`Not supported here, use the settings: ${names.join(', ')}`);
        // From now on the program answers questions about calls.
        permissions.canAsk = true;
        return { commands: [], agents: [], models: [], output_style: 'default', account: {}, capabilities };
      }
      case 'interrupt':
        permissions.interrupt();
        return {};
      case 'set_permission_mode': {
        const mode = modeNamed(String(request['mode']));
        if (mode === undefined) throw new Error(`The mode must be one of ${approvalModes.join(', ')}`);
        lathe.policy.mode = mode;
        return { mode };
      }
      case 'set_model': {
        const { model } = request;
        const isNamed = typeof model === 'string' && model !== 'default';
        await switchModel(lathe, session.agent, isNamed ? model : flags.model, signal);
        return { model: session.agent.model.id };
      }
      default:
        throw new Error(`There is no control request ${JSON.stringify(request['subtype'])}`);
    }
  }
}

const capabilities = { can_handle_can_use_tool: true, can_set_permission_mode: true, can_set_model: true };
