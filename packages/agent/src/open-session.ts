import { type PartListUnion, type ToolRegistry, textOf, toParts } from '@lathe/core';
import {
  type Exposure,
  type ExposureSource,
  headOf,
  type RestoreOutcome,
  type RestorePlan,
  secretsOf,
} from '@lathe/core/host';
import type { AgentLathe } from './create-agent-lathe.js';
import type { Agent } from './loop/agent.js';
import type { AgentEvent } from './loop/agent-event.js';
import type { Message, Model } from './models/model.js';
import { type AgentHost, type OpenAgentOptions, openAgent } from './open-agent.js';
import { type RewindPoint, RewindPoints } from './session/rewind-points.js';
import { type ResumedSession, SessionStore } from './session/session-store.js';
import { StepRecorder } from './session/step-recorder.js';
import type { Transcript } from './session/transcript.js';

/** How to open a session. */
export interface OpenSessionOptions extends Omit<OpenAgentOptions, 'history' | 'sources'> {
  /** Continue the latest session of this directory, or the one with this id. */
  resume?: 'latest' | { id: string };
  /** `false` takes no snapshots of the files, so that only the conversation can go back. */
  takesSnapshots?: boolean;
}

/** What a session uses of an `AgentLathe`. */
type SessionHost = AgentHost & Pick<AgentLathe, 'journal' | 'project' | 'rewind' | 'useSession'>;

const maxTitle = 200;

/** Opens an agent whose conversation is saved as it happens, in a new or an earlier session. */
export async function openSession(lathe: SessionHost, options: OpenSessionOptions): Promise<Session> {
  const { resume, takesSnapshots = true, ...rest } = options;
  const store = await SessionStore.open(lathe.home, lathe.project);
  const resumed = resume && (await (resume === 'latest' ? store.latest() : store.load(resume.id)));
  const problems: string[] = [];
  const transcriptOptions = {
    model: options.model.id,
    secrets: secretsOf(lathe.loaded),
    onProblem: (message: string) => problems.push(message),
  };
  const { id, transcript } = resumed
    ? { id: resumed.id, transcript: store.reopen(resumed, transcriptOptions) }
    : store.create(transcriptOptions);
  const points = new RewindPoints({
    rewind: lathe.rewind,
    isOwn: (turn) => turn.startsWith(`${id}/`),
    points: resumed?.points ?? [],
    record: (record) => transcript.append(record),
    onProblem: transcriptOptions.onProblem,
  });
  const agent = openAgent(lathe, {
    ...rest,
    ...(resumed && { history: resumed.messages, sources: sourcesOf(resumed) }),
    ...(takesSnapshots && { beforeChange: (signal: AbortSignal) => points.beforeChange(signal) }),
  });
  if (lathe.hooks) Object.assign(lathe.hooks.session, { id, transcriptPath: transcript.path });
  // A home that cannot be written costs the session its transcript, not its life.
  await lathe.useSession(id).catch(() => undefined);
  const notes = resumed ? [...resumed.notes, ...notesOn(resumed, lathe.tools)] : [];
  if (!resumed && resume === 'latest') notes.push('There is no earlier session here; this is a new one.');
  const beginTurn = (turn: string) => lathe.journal.beginTurn(turn);
  const { exposure } = lathe;
  return new Session({ id, agent, transcript, points, notes, problems, beginTurn, exposure });
}

interface SessionParts {
  id: string;
  agent: Agent;
  transcript: Transcript;
  points: RewindPoints;
  notes: readonly string[];
  /** Filled when something cannot be saved. */
  problems: string[];
  beginTurn: (turn: string) => void;
  exposure: Pick<Exposure, 'sources'> | undefined;
}

/** A conversation and its transcript. */
export class Session {
  readonly id: string;
  readonly agent: Agent;
  /** For people: what differs from when the session was left. */
  readonly notes: readonly string[];
  readonly #parts: SessionParts;
  /** How many messages of the history are saved. */
  #written: number;
  /** What this process wrote about where the content comes from. */
  readonly #writtenSources = new Set<string>();

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.agent = parts.agent;
    this.notes = parts.notes;
    this.#parts = parts;
    this.#written = parts.agent.history.length;
  }

  get model(): Model {
    return this.agent.model;
  }

  /** The file that the conversation is saved in. */
  get transcriptPath(): string {
    return this.#parts.transcript.path;
  }

  /** As `Agent.prompt`. */
  async *prompt(content: PartListUnion, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    this.#begin('prompt', titleOf(content));
    try {
      yield* this.#recorded(this.agent.prompt(content, signal));
    } finally {
      await this.#parts.points.end();
    }
  }

  /** As `Agent.hear`. */
  async *hear(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    this.#begin('prompt', 'Reports of background tasks');
    try {
      yield* this.#recorded(this.agent.hear(signal));
    } finally {
      await this.#parts.points.end();
    }
  }

  /** The moments this session can go back to, the oldest first. */
  get points(): readonly RewindPoint[] {
    return this.#parts.points.list;
  }

  /** What `rewind` would do to the files. Changes nothing. */
  async previewRewind(point: RewindPoint, signal: AbortSignal): Promise<RestorePlan> {
    return (await this.#parts.points.plan(point, signal)).plan;
  }

  /**
   * Goes back to the conversation, the files, or both, as they were at this point. A person must have seen the preview.
   * Adds a point, so that the way back is the same. Returns what became of each file.
   */
  async rewind(
    point: RewindPoint,
    what: { conversation: boolean; files: boolean },
    signal: AbortSignal,
  ): Promise<RestoreOutcome[]> {
    const { points } = this.#parts;
    const { history } = point;
    if (what.conversation && !history) throw new Error('This conversation is too old to go back to');
    const planned = what.files ? await points.plan(point, signal) : undefined;
    this.#begin('rewind', point.text);
    if (what.conversation && history) {
      this.agent.clear(history);
      this.#rewrite(this.agent.history);
    }
    try {
      return planned ? await points.restore(planned.plan, planned.now, signal) : [];
    } finally {
      await points.end();
      await this.#parts.transcript.sync();
    }
  }

  #begin(type: RewindPoint['type'], text: string): void {
    this.#parts.beginTurn(`${this.id}/${this.agent.history.length}`);
    this.#parts.transcript.append({ type, text });
    this.#parts.points.begin({ type, text, history: this.agent.history.slice() });
  }

  /** As `Agent.steer`. */
  steer(content: PartListUnion): Promise<boolean> {
    return this.agent.steer(content);
  }

  /** As `Agent.compact`. */
  compact(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    return this.#recorded(this.agent.compact(signal));
  }

  /** Starts a new conversation in the same session. */
  clear(): void {
    this.agent.clear();
    this.#rewrite(this.agent.history);
  }

  async close(): Promise<void> {
    await this.#parts.transcript.close();
  }

  async *#recorded(events: AsyncGenerator<AgentEvent>): AsyncGenerator<AgentEvent> {
    const recorder = new StepRecorder();
    try {
      for await (const event of events) {
        const step = recorder.recordOf(event);
        if (step) this.#parts.transcript.append(step);
        if (event.type === 'message-add') this.#write(event.message);
        if (event.type === 'compaction-end') this.#rewrite(event.compaction.history);
        if (event.type === 'prompt-end') await this.#settle();
        for (const message of this.#parts.problems.splice(0)) yield { type: 'notice', level: 'warning', message };
        yield event;
      }
    } finally {
      await this.#settle();
    }
  }

  /** Saves what entered the history without an event: the results of an interrupted turn, a partial answer. */
  async #settle(): Promise<void> {
    const { history } = this.agent;
    if (history.length < this.#written) this.#rewrite(history);
    for (const message of history.slice(this.#written)) this.#write(message);
    await this.#parts.transcript.sync();
  }

  #write(message: Message): void {
    this.#writeSources();
    this.#parts.transcript.append({ type: 'message', message });
    this.#written += 1;
  }

  /** Before the messages that have something of them: a later process must ask as this one does. */
  #writeSources(): void {
    for (const source of this.#parts.exposure?.sources ?? []) {
      if (this.#writtenSources.has(source.what)) continue;
      this.#writtenSources.add(source.what);
      this.#parts.transcript.append({ type: 'source', ...source });
    }
  }

  #rewrite(messages: readonly Message[]): void {
    if (messages.length === 0 && this.#written === 0) return;
    this.#writeSources();
    this.#parts.transcript.append({ type: 'history', messages });
    this.#written = messages.length;
  }
}

/** What was read of a beginning that is skipped now is not known. */
function sourcesOf({ sources, isCut }: ResumedSession): ExposureSource[] {
  return isCut ? [...sources, { what: 'what an earlier part of the session contains' }] : [...sources];
}

/** The request, without the files and instructions added to it. */
function titleOf(content: PartListUnion): string {
  const parts = toParts(content);
  const asked = parts.find(({ text }) => text !== undefined && text.trim() !== '')?.text;
  return headOf((asked ?? textOf(parts)).trim(), maxTitle);
}

function notesOn({ messages }: ResumedSession, registry: Pick<ToolRegistry, 'getTool'>): string[] {
  const called = messages.flatMap(({ parts }) => parts.flatMap(({ functionCall }) => functionCall ?? []));
  const answered = new Set(
    messages.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])),
  );
  const open = called.filter(({ id }) => id === undefined || !answered.has(id));
  const openNames = new Set(open.map(({ name = '?' }) => name));
  const gone = new Set(called.flatMap(({ name = '' }) => (registry.getTool(name) ? [] : [name])));
  return [
    ...(open.length > 0
      ? [`${open.length} calls were interrupted and do not run again: ${[...openNames].join(', ')}.`]
      : []),
    ...(gone.size > 0 ? [`Tools used before that are missing now: ${[...gone].join(', ')}.`] : []),
  ];
}
