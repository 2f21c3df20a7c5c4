import type { AgentEvent, AgentLathe, Session } from '@lathe/agent';
import type { ApiSession, FileChange, SessionSettings, SessionUsage } from '@lathe/agent/client';
import { headOf } from '@lathe/core/host';
import { modeNamed } from '../command-line/approval-modes.js';
import type { Flags } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import type { Io } from '../command-line/io.js';
import { readMentioned } from '../drivers/read-mentioned.js';
import { openChosenSession } from '../startup/open-chosen-session.js';
import { openLathe, runSessionEndHooks } from '../startup/open-lathe.js';
import { switchModel } from '../startup/open-model.js';
import { EventLog } from './event-log.js';
import { OpenQuestions } from './open-questions.js';
import { Person } from './person.js';
import { Rejection } from './rejection.js';

export interface LiveOptions {
  flags: Flags;
  io: Io;
  /** Continue the session with this id. */
  resume?: string;
  /** Questions are dismissed when nobody has asked for anything for this long. */
  absenceMs?: number;
}

const defaultAbsenceMs = 30 * 60_000;

interface Parts {
  questions: OpenQuestions;
  session: Session;
  lathe: AgentLathe;
  notes: string[];
  absenceMs: number;
}

/** One open session: an agent with tools and rules of its own, its latest events, and the questions it waits for. */
export class LiveSession {
  readonly log = new EventLog({ begin: Date.now() * 1000 });
  readonly questions: OpenQuestions;
  /** Somebody has looked at the session since the last check, so that its questions may wait. */
  wasPresent = true;
  readonly #parts: Parts;
  readonly #presence: NodeJS.Timeout;
  #turn: { stop: AbortController; done: Promise<void> } | undefined;
  #title = '';
  #updated = new Date().toISOString();
  #shown = '';

  private constructor(parts: Parts) {
    this.questions = parts.questions;
    this.#parts = parts;
    this.questions.report = (event) => {
      this.log.add(event);
      this.#update();
    };
    this.#presence = setInterval(() => this.#checkPresence(), parts.absenceMs);
    this.#presence.unref();
  }

  static async open(options: LiveOptions, signal: AbortSignal): Promise<LiveSession> {
    const { flags, io, resume, absenceMs = defaultAbsenceMs } = options;
    const questions = new OpenQuestions();
    const person = new Person(questions, io);
    const lathe = await openLathe(flags, io, { approver: person, asker: person, elicit: person.elicit });
    try {
      const chosen = { flags, io, isAttended: true as const, ...(resume !== undefined && { resume: { id: resume } }) };
      const found = await openChosenSession(lathe, chosen, signal);
      if (typeof found === 'string') throw new Rejection(503, found);
      const notes = [...lathe.problems, ...found.notes];
      return new LiveSession({ questions, session: found.session, lathe, notes, absenceMs });
    } catch (error) {
      await lathe.close();
      throw error;
    }
  }

  get id(): string {
    return this.#parts.session.id;
  }

  get info(): ApiSession {
    const { session, lathe, notes } = this.#parts;
    const { effort } = session.agent;
    return {
      id: this.id,
      title: this.#title || (session.points[0]?.text ?? ''),
      updated: this.#updated,
      model: session.model.id,
      status: this.questions.list.length > 0 ? 'waiting' : this.#turn ? 'working' : 'idle',
      cwd: lathe.workspace.root,
      mode: lathe.policy.mode,
      ...(effort !== undefined && { effort }),
      lastEventId: this.log.lastId,
      notes,
    };
  }

  /** The conversation so far. */
  get messages() {
    const messages = this.#parts.session.agent.history.map(({ role, parts }) => ({ role, parts }));
    return { messages, lastEventId: this.log.lastId };
  }

  get usage(): SessionUsage {
    const { agent, model } = this.#parts.session;
    const { usage, turns, cost } = agent.spending;
    const { inputTokens, outputTokens, cachedInputTokens } = usage;
    const tokens = { inputTokens, outputTokens, cachedInputTokens, contextTokens: agent.contextTokens };
    return { turns, ...tokens, contextWindow: model.contextWindow, ...(cost !== undefined && { costCents: cost }) };
  }

  /** The files that the tools of this session changed, those changed last first. */
  async files(): Promise<FileChange[]> {
    const files = new Map<string, FileChange>();
    for (const { path, turn, tool, time, before } of await this.#parts.lathe.journal.list(Number.POSITIVE_INFINITY)) {
      if (!turn.startsWith(`${this.id}/`)) continue;
      const known = files.get(path) ?? { path, isNew: false, changes: 0, updated: time, tools: [] };
      const tools = known.tools.includes(tool) ? known.tools : [...known.tools, tool];
      // The oldest change comes last: it says whether the file was there before.
      files.set(path, { ...known, isNew: before === null, changes: known.changes + 1, tools });
    }
    return [...files.values()];
  }

  /** Starts work and returns at once. */
  prompt(text: string): ApiSession {
    if (this.#turn) throw new Rejection(409, 'The session is at work. Steer or cancel it, or wait.');
    const stop = new AbortController();
    this.#title = this.info.title || headOf(text.trim(), 200);
    const done = this.#work(text, stop.signal).finally(() => {
      this.#turn = undefined;
      this.#update();
    });
    this.#turn = { stop, done };
    this.#update();
    return this.info;
  }

  /** Adds to the work in progress. */
  steer(text: string): ApiSession {
    if (!this.#turn) throw new Rejection(409, 'The session is not at work. Send a prompt.');
    void this.#parts.session.steer(text).then((isDelivered) => this.log.add({ type: 'steer-end', text, isDelivered }));
    return this.info;
  }

  /** Ends the work in progress; resolves when it has ended. */
  async cancel(): Promise<ApiSession> {
    this.#turn?.stop.abort(new Error('cancelled'));
    await this.#turn?.done;
    return this.info;
  }

  async change({ mode, model, effort }: SessionSettings, signal: AbortSignal): Promise<ApiSession> {
    const { lathe, session } = this.#parts;
    if (model !== undefined)
      await switchModel(lathe, session.agent, model, signal).catch((error: unknown) => {
        throw new Rejection(422, errorMessage(error));
      });
    if (effort !== undefined) session.agent.effort = effort;
    if (mode !== undefined) lathe.policy.mode = modeNamed(mode) ?? lathe.policy.mode;
    this.#update();
    return this.info;
  }

  async close(): Promise<void> {
    const { session, lathe } = this.#parts;
    clearInterval(this.#presence);
    await this.cancel();
    this.log.add({ type: 'session-end' });
    await session.close();
    await runSessionEndHooks(lathe);
    await lathe.close();
  }

  async #work(text: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.#events(text, signal)) {
        this.log.add(event);
        // A tool may leave plan mode.
        if (event.type === 'call-end') this.#update();
      }
    } catch (error) {
      const message = signal.aborted ? 'Cancelled.' : errorMessage(error);
      this.log.add({ type: 'notice', level: 'warning', message });
    }
  }

  async *#events(text: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { session, lathe } = this.#parts;
    const files = yield* readMentioned(text, lathe, signal, { isTyped: false });
    yield* session.prompt([text, ...files], signal);
  }

  /** Reports what the session is now, if that has changed. */
  #update(): void {
    const { lastEventId: _id, updated: _time, ...session } = this.info;
    const shown = JSON.stringify(session);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#updated = new Date().toISOString();
    this.log.add({ type: 'session-update', session: { ...session, updated: this.#updated } });
  }

  /** Work must not hang because everybody left: the questions end as if they had been answered with no. */
  #checkPresence(): void {
    if (!this.wasPresent && this.log.listenerCount === 0) this.questions.dismiss();
    this.wasPresent = false;
  }
}
