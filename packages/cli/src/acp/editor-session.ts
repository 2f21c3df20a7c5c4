import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AgentContext, ClientCapabilities, ContentBlock, McpServer } from '@agentclientprotocol/sdk';
import { RequestError, type SessionConfigOption, type StopReason } from '@agentclientprotocol/sdk';
import type { AgentLathe, PromptEnd } from '@lathe/agent';
import { mayBeSensitive } from '@lathe/core/host';
import { modeNamed } from '../command-line/approval-modes.js';
import { efforts, type Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { AgentDriver } from '../drivers/agent-driver.js';
import { customCommands } from '../slash/custom-commands.js';
import { promptCommands } from '../slash/mcp-commands.js';
import { knownModels } from '../slash/model-command.js';
import { type ChosenSession, openChosenSession } from '../startup/open-chosen-session.js';
import { failureLines, missingTools, openLathe, runSessionEndHooks } from '../startup/open-lathe.js';
import { clientServers } from './client-servers.js';
import { editorBuffers } from './editor-buffers.js';
import { EditorCommands } from './editor-commands.js';
import { editorQuestions } from './editor-questions.js';
import { EventUpdates } from './event-updates.js';
import { permissionApprover } from './permission-approver.js';
import { promptContent } from './prompt-content.js';
import { replayHistory } from './replay-history.js';
import { SessionClient } from './session-client.js';
import { anyEffort, configOptions, modeState } from './session-options.js';

export interface SessionSetup {
  editor: AgentContext;
  capabilities: ClientCapabilities;
  flags: Flags;
  io: Io;
  /** As the editor spells it. */
  cwd: string;
  servers: readonly McpServer[];
  /** The id of an earlier session. */
  resume?: string;
}

interface Parts extends ChosenSession {
  lathe: AgentLathe;
  client: SessionClient;
  commands: EditorCommands;
  hasSandbox: boolean;
  io: Io;
}

/** A session of an editor: one conversation in one directory. */
export class EditorSession {
  readonly #parts: Parts;
  readonly #driver: AgentDriver;
  readonly #updates: EventUpdates;
  #turn: { controller: AbortController; ends: AbortSignal; done: Promise<unknown> } | undefined;
  #models: readonly string[] = [];
  #hasDiscovered = false;
  /** The options that the editor knows. */
  #shown = '';

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#driver = new AgentDriver(parts.lathe, parts.session);
    this.#updates = new EventUpdates(parts.client, parts.lathe);
  }

  static async open(setup: SessionSetup, signal: AbortSignal): Promise<EditorSession> {
    const { flags, capabilities, cwd } = setup;
    const client = new SessionClient(setup.editor, capabilities);
    const questions = editorQuestions(client);
    const buffers = editorBuffers(client, { spelled: cwd, real: await realpath(cwd) });
    const io: Io = { ...setup.io, cwd, out: setup.io.err };
    const lathe: AgentLathe = await openLathe(flags, io, {
      approver: permissionApprover(client, questions, () => lathe),
      ...questions,
      ...(buffers && { buffers }),
      servers: clientServers(setup.servers),
    });
    try {
      const resume = setup.resume === undefined ? {} : { resume: { id: setup.resume } };
      const opened = await openChosenSession(lathe, { flags, io, isAttended: true, ...resume }, signal);
      if (typeof opened === 'string') throw RequestError.internalError(undefined, opened);
      client.sessionId = opened.session.id;
      const prompts = promptCommands(lathe, client.ended.signal);
      const commands = new EditorCommands(client, prompts, await customCommands(lathe));
      const hasSandbox = (await lathe.sandbox.status()).kind !== 'none';
      return new EditorSession({ lathe, ...opened, client, commands, hasSandbox, io });
    } catch (error) {
      await lathe.close();
      throw error;
    }
  }

  get id(): string {
    return this.#parts.session.id;
  }

  /** The choices of the session, which the editor knows from now on. */
  state() {
    const { lathe, session, hasSandbox } = this.#parts;
    const host = { policy: lathe.policy, hasSandbox };
    this.#shown = this.#choices();
    return { modes: modeState(host), configOptions: configOptions(host, session, this.#models) };
  }

  async replay(): Promise<void> {
    const { session, lathe, client } = this.#parts;
    for (const update of replayHistory(session.agent.history, lathe)) await client.update(update);
  }

  /** Tells the editor the commands and the models, which takes a while. */
  async announce(): Promise<void> {
    const { lathe, client, commands } = this.#parts;
    await commands.announce();
    const found = await knownModels(lathe, client.ended.signal).catch(() => []);
    this.#models = found.map(({ name }) => name);
    if (found.length > 0)
      await client.update({ sessionUpdate: 'config_option_update', configOptions: this.state().configOptions });
  }

  /** A prompt that was cancelled ends before the next one begins. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const before = this.#turn;
    if (before && !before.ends.aborted)
      throw RequestError.invalidRequest(undefined, 'this session still works on another prompt; cancel it first');
    const { client } = this.#parts;
    const controller = new AbortController();
    const ends = AbortSignal.any([controller.signal, signal, client.ended.signal]);
    const begun = Promise.resolve(before?.done).then(() => this.#work(blocks, ends));
    const work = begun.catch((error: unknown) => {
      if (ends.aborted) return 'cancelled' as const;
      throw error;
    });
    const turn = { controller, ends, done: work.catch(() => undefined) };
    this.#turn = turn;
    try {
      return await work;
    } finally {
      if (this.#turn === turn) this.#turn = undefined;
      client.turn = client.ended.signal;
    }
  }

  /** Ends the prompt that is worked on, and its questions. */
  cancel(): void {
    this.#turn?.controller.abort(new Error('cancelled by the editor'));
  }

  async choose(option: string, value: unknown, signal: AbortSignal): Promise<SessionConfigOption[]> {
    const { lathe, session } = this.#parts;
    const mode = typeof value === 'string' ? modeNamed(value) : undefined;
    const effort = efforts.find((each) => each === value);
    if (option === 'mode' && mode) lathe.policy.mode = mode;
    else if (option === 'effort' && (effort || value === anyEffort)) session.agent.effort = effort;
    else if (option === 'model' && typeof value === 'string') await this.#driver.conversation.useModel(value, signal);
    else throw RequestError.invalidParams(undefined, `there is no ${option} ${JSON.stringify(value)?.slice(0, 100)}`);
    await this.#showChoices();
    return this.state().configOptions;
  }

  /** Ends what is running, and writes the transcript. */
  async close(): Promise<void> {
    const { session, lathe, client } = this.#parts;
    client.ended.abort(new Error('the session was closed'));
    await this.#turn?.done;
    await session.close();
    await runSessionEndHooks(lathe);
    await lathe.close();
  }

  async #work(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { lathe, session, client, commands, io } = this.#parts;
    signal.throwIfAborted();
    client.turn = signal;
    const content = promptContent(blocks);
    for (const block of blocks)
      if (block.type === 'resource' && mayBeSensitive(basename(block.resource.uri.replace(/[?#].*/, ''))))
        lathe.exposure?.note({ what: block.resource.uri });
    if (content.length === 1 && content[0].trim() === '')
      throw RequestError.invalidParams(undefined, 'the prompt is empty');
    await this.#discover(signal);
    this.#driver.attached = content.slice(1);
    const command = commands.run(content[0], { lathe, driver: this.#driver, io, signal });
    let end: PromptEnd | undefined;
    for await (const event of command ?? session.prompt(content, signal)) {
      await this.#updates.send(event);
      await this.#showChoices();
      if (event.type === 'prompt-end') end = event.end;
    }
    return signal.aborted ? 'cancelled' : this.#stopReason(end);
  }

  /** Starts the servers and commands that have tools, at the first prompt, because a person may have to agree to them. */
  async #discover(signal: AbortSignal): Promise<void> {
    const { lathe, notes, client, commands } = this.#parts;
    if (this.#hasDiscovered) return;
    const { later } = await lathe.prepareTools(signal);
    signal.throwIfAborted();
    this.#hasDiscovered = true;
    void later.then((late) => failureLines(late).map((line) => client.note('warning', line)));
    for (const note of [...notes, ...commands.problems, ...missingTools(lathe.tools)])
      await client.note('warning', note);
  }

  async #stopReason(end: PromptEnd | undefined): Promise<StopReason> {
    if (!end || end.reason === 'done') return 'end_turn';
    const { client } = this.#parts;
    const message = end.message ?? end.reason;
    if (end.reason === 'error') throw RequestError.internalError(undefined, message);
    await client.note('warning', message);
    return stopReasons[end.reason] ?? 'end_turn';
  }

  #choices(): string {
    const { lathe, session } = this.#parts;
    return JSON.stringify([lathe.policy.mode, session.model.id, session.agent.effort]);
  }

  /** A plan that was approved changes the mode, and a fallback the model. */
  async #showChoices(): Promise<void> {
    if (this.#choices() === this.#shown) return;
    const { lathe, client } = this.#parts;
    const { configOptions: options } = this.state();
    await client.update({ sessionUpdate: 'current_mode_update', currentModeId: lathe.policy.mode });
    await client.update({ sessionUpdate: 'config_option_update', configOptions: options });
  }
}

const stopReasons: { [reason in PromptEnd['reason']]?: StopReason } = {
  aborted: 'cancelled',
  length: 'max_tokens',
  'max-tokens': 'max_tokens',
  'max-turns': 'max_turn_requests',
  filter: 'refusal',
};
