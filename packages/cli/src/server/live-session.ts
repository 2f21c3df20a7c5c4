import type { AgentLathe, Session } from '@lathe/agent';
import type { ApiSession, FileChange, SessionEvent, SessionSettings, SessionUsage } from '@lathe/agent/client';
import { toParts } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import type { Io } from '../command-line/io.js';
import { runCalls } from '../drivers/run-calls.js';
import { describeMissing, mentionedPaths } from '../mentions/mentioned-paths.js';
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

/** One open session: an agent with tools and rules of its own, its latest events, and the questions it waits for. */
export class LiveSession {
  readonly log: EventLog;
  readonly questions: OpenQuestions;
  readonly #session: Session;
  readonly #lathe: AgentLathe;
  readonly #notes: readonly string[];
  readonly #presence: NodeJS.Timeout;
  #turn: { stop: AbortController; done: Promise<void> } | undefined;
  #title = '';
  #updated = new Date().toISOString();
  #shown = '';
  #isClosed = false;
  /** Somebody was there since the last look. */
  #wasPresent = true;

  private constructor(parts: {
    log: EventLog;
    questions: OpenQuestions;
    session: Session;
    lathe: AgentLathe;
    notes: readonly string[];
    absenceMs: number;
  }) {
    ({ log: this.log, questions: this.questions } = parts);
    this.#session = parts.session;
    this.#lathe = parts.lathe;
    this.#notes = parts.notes;
    this.#presence = setInterval(() => this.#checkPresence(), parts.absenceMs);
    this.#presence.unref();
  }

  static async open(options: LiveOptions, signal: AbortSignal): Promise<LiveSession> {
    const { flags, io, resume, absenceMs = defaultAbsenceMs } = options;
    const log = new EventLog();
    const opened: { session?: LiveSession } = {};
    const questions: OpenQuestions = new OpenQuestions((event) => {
      if (opened.session) opened.session.report(event);
      // Nobody can see it yet, so nobody could answer.
      else if (event.type === 'question-add') queueMicrotask(() => questions.dismiss());
    });
    const person = new Person(questions, io);
    const lathe = await openLathe(flags, io, { approver: person, asker: person, elicit: person.elicit });
    try {
      person.isTrusted = lathe.loaded.isTrusted;
      const chosen = { flags, io, isAttended: true as const, ...(resume !== undefined && { resume: { id: resume } }) };
      const found = await openChosenSession(lathe, chosen, signal);
      if (typeof found === 'string') throw new Rejection(503, found);
      const { session } = found;
      const notes = [...lathe.problems, ...found.notes];
      opened.session = new LiveSession({ log, questions, session, lathe, notes, absenceMs });
      return opened.session;
    } catch (error) {
      await lathe.close();
      throw error;
    }
  }

  get id(): string {
    return this.#session.id;
  }

  get isWorking(): boolean {
    return this.#turn !== undefined;
  }

  get info(): ApiSession {
    const { effort } = this.#session.agent;
    return {
      id: this.id,
      title: this.#title || (this.#session.points[0]?.text ?? ''),
      updated: this.#updated,
      model: this.#session.model.id,
      status: this.questions.list.length > 0 ? 'waiting' : this.#turn ? 'working' : 'idle',
      cwd: this.#lathe.workspace.root,
      mode: this.#lathe.policy.mode,
      ...(effort !== undefined && { effort }),
      lastEventId: this.log.lastId,
      notes: [...this.#notes],
    };
  }

  /** The conversation so far. */
  get messages() {
    const messages = this.#session.agent.history.map(({ role, parts }) => ({ role, parts }));
    return { messages, lastEventId: this.log.lastId };
  }

  get usage(): SessionUsage {
    const { agent, model } = this.#session;
    const { usage, turns, cost } = agent.spending;
    const { inputTokens, outputTokens, cachedInputTokens } = usage;
    const spent = {
      turns,
      inputTokens,
      outputTokens,
      cachedInputTokens,
      ...(cost !== undefined && { costCents: cost }),
    };
    return { ...spent, contextTokens: agent.contextTokens, contextWindow: model.contextWindow };
  }

  /** The files that the tools of this session changed, those changed last first. */
  async files(): Promise<FileChange[]> {
    const files = new Map<string, FileChange>();
    for (const { path, turn, tool, time, before } of await this.#lathe.journal.list(Number.POSITIVE_INFINITY)) {
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
    this.#title ||= text.trim().slice(0, 200);
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
    void this.#session.steer(text).then((isDelivered) => this.report({ type: 'steer-end', text, isDelivered }));
    return this.info;
  }

  /** Ends the work in progress; resolves when it has ended. */
  async cancel(): Promise<ApiSession> {
    this.#turn?.stop.abort(new Error('cancelled'));
    await this.#turn?.done;
    return this.info;
  }

  async change({ mode, model, effort }: SessionSettings, signal: AbortSignal): Promise<ApiSession> {
    const { agent } = this.#session;
    if (model !== undefined)
      await switchModel(this.#lathe, agent, model, signal).catch((error: unknown) => {
        throw new Rejection(422, errorMessage(error));
      });
    if (effort !== undefined) agent.effort = effort;
    if (mode !== undefined) this.#lathe.policy.mode = mode;
    this.#update();
    return this.info;
  }

  /** Somebody looks at the session, so that its questions may wait. */
  notePresence(): void {
    this.#wasPresent = true;
  }

  report(event: SessionEvent): void {
    this.log.add(event);
    if (event.type === 'question-add' || event.type === 'question-end') this.#update();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#presence);
    await this.cancel();
    this.log.add({ type: 'session-end' });
    await this.#session.close();
    await runSessionEndHooks(this.#lathe);
    await this.#lathe.close();
  }

  async #work(text: string, signal: AbortSignal): Promise<void> {
    try {
      const files = await this.#mentioned(text, signal);
      for await (const event of this.#session.prompt([text, ...files], signal)) {
        this.log.add(event);
        // A tool may leave plan mode.
        if (event.type === 'call-end') this.#update();
      }
    } catch (error) {
      const message = signal.aborted ? 'Cancelled.' : errorMessage(error);
      this.log.add({ type: 'notice', level: 'warning', message });
    }
  }

  /** The files that a prompt mentions as `@path`, read under the same rules as any call. */
  async #mentioned(text: string, signal: AbortSignal) {
    const { patterns: paths, missing } = await mentionedPaths(text, this.#lathe.workspace);
    const message = describeMissing(missing, []);
    if (message !== undefined) this.log.add({ type: 'notice', level: 'warning', message });
    if (paths.length === 0) return [];
    const reading = runCalls(this.#lathe, [{ name: 'read_many_files', args: { paths } }], signal);
    let next = await reading.next();
    for (; !next.done; next = await reading.next()) this.log.add(next.value);
    const [outcome] = next.value;
    if (outcome?.status !== 'success') return [];
    return ['\n\nContent of the files mentioned above:\n', ...toParts(outcome.llmContent)];
  }

  /** Reports what the session is now, if that has changed. */
  #update(): void {
    const { lastEventId: _id, updated: _time, ...session } = this.info;
    const shown = JSON.stringify(session);
    if (shown === this.#shown || this.#isClosed) return;
    this.#shown = shown;
    this.#updated = new Date().toISOString();
    this.log.add({ type: 'session-update', session: { ...session, updated: this.#updated } });
  }

  /** Work must not hang because everybody left: the questions end as if they had been answered with no. */
  #checkPresence(): void {
    if (!this.#wasPresent && this.log.listenerCount === 0) this.questions.dismiss();
    this.#wasPresent = false;
  }
}
