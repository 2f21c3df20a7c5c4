import { setTimeout as delay } from 'node:timers/promises';
import { ToolError } from '@lathe/core';
import { fitText, type Spill, thrownText } from '@lathe/core/host';
import type { FinishedTask, Task } from '@lathe/core/tools';
import type { Agent } from '../loop/agent.js';
import type { AgentEvent } from '../loop/agent-event.js';
import type { Inbox } from '../loop/inbox.js';

/** A task that works beside its parent, as people see it. */
export interface BackgroundTask {
  readonly id: string;
  /** The kind of subagent, and what it does in a few words. */
  readonly name: string;
  readonly description: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
  readonly tokens: number;
  /** What it does now. */
  readonly activity: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** What a task is given to work with. */
export interface TaskWork {
  id: string;
  signal: AbortSignal;
  /** Called with each event of the agent. */
  onEvent: (event: AgentEvent) => void;
  /** Called when the agent is there and may be sent messages. */
  onOpen: (agent: Agent) => void;
}

interface Entry {
  task: BackgroundTask;
  inbox: Inbox;
  controller: AbortController;
  agent?: Agent;
  ended: Promise<void>;
}

/** Each of them may wait for a place; more than these would be a mistake. */
const maxUnfinished = 100;
/** Ended ones that are still listed. */
const maxEnded = 50;
const maxReport = 40_000;
const stopped = 'stopped';
/** How long to wait for the end of a task that was stopped. */
const graceMs = 5_000;

/** The tasks that work beside the agents of one session. */
export class BackgroundTasks {
  readonly #spill: Spill;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();
  #shown: readonly BackgroundTask[] = [];
  #count = 0;

  constructor(spill: Spill) {
    this.#spill = spill;
  }

  /** Starts a task for the agent behind this inbox, which gets the report. Returns its id at once. */
  start(task: Task, inbox: Inbox, work: (own: TaskWork) => Promise<FinishedTask>): string {
    if (this.#of().filter(isOpen).length >= maxUnfinished)
      throw new ToolError(
        'execution_denied',
        `${maxUnfinished} background tasks are unfinished: wait for their reports.`,
      );
    const id = `t${++this.#count}`;
    const { subagent_type: name, description } = task;
    const shown = { id, name, description, state: 'waiting', tokens: 0, activity: '' } as const;
    const entry: Entry = {
      task: { ...shown, startedAt: performance.now() },
      inbox,
      controller: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#entries.set(id, entry);
    entry.ended = this.#follow(entry, work).then(inbox.expect());
    this.#update(entry, {});
    return id;
  }

  /** All, or those that one agent started, the newest last. The list of all stays the same until something changes. */
  list(inbox?: Inbox): readonly BackgroundTask[] {
    return inbox ? this.#of(inbox).map(({ task }) => task) : this.#shown;
  }

  /** Calls `listener` after each change. Returns how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a running task a message. `inbox`: only if this agent started it. */
  send(id: string, message: string, inbox?: Inbox): string {
    const entry = this.#find(id, inbox);
    const { agent } = entry;
    if (!isOpen(entry))
      throw new ToolError('execution_failed', `${id} has ended and takes no more messages. Start another task.`);
    if (!agent) throw new ToolError('execution_failed', `${id} has not started yet: it waits until another task ends.`);
    void agent.steer(message);
    return `${id} gets the message with its next step.`;
  }

  async stop(id: string, inbox?: Inbox): Promise<string> {
    const entry = this.#find(id, inbox);
    if (!isOpen(entry)) return `${id} has ended already.`;
    return (await abort([entry])) ? `Stopped ${id}.` : `Stopping ${id}.`;
  }

  /** Stops all tasks, or those that one agent started, and waits for their end. */
  async stopAll(inbox?: Inbox): Promise<void> {
    await abort(this.#of(inbox).filter(isOpen));
  }

  /** Those of one agent, or all of them. */
  #of(inbox?: Inbox): Entry[] {
    return [...this.#entries.values()].filter((entry) => inbox === undefined || entry.inbox === inbox);
  }

  #find(id: string, inbox: Inbox | undefined): Entry {
    const known = this.#of(inbox);
    const entry = known.find(({ task }) => task.id === id);
    if (entry) return entry;
    const names = known.map(({ task }) => task.id).join(', ');
    throw new ToolError('invalid_tool_params', `There is no task ${id}${names === '' ? '' : `, only ${names}`}.`);
  }

  /** Returns the message for the parent. Never rejects. */
  async #follow(entry: Entry, work: (own: TaskWork) => Promise<FinishedTask>): Promise<string> {
    const { id } = entry.task;
    const { signal } = entry.controller;
    const onEvent = (event: AgentEvent) => {
      if (event.type === 'call-update') this.#update(entry, { activity: event.description });
      if (event.type !== 'usage') return;
      const { inputTokens, outputTokens } = event.usage.session;
      this.#update(entry, { tokens: inputTokens + outputTokens });
    };
    const onOpen = (agent: Agent) => {
      entry.agent = agent;
      this.#update(entry, { state: 'running', startedAt: performance.now() });
    };
    try {
      const { display, problem, note = '' } = await work({ id, signal, onEvent, onOpen });
      const text = [display.result || '(no report)', note].filter((part) => part !== '').join('\n\n');
      const isStopped = problem !== undefined && signal.aborted;
      this.#end(entry, problem === undefined ? 'done' : isStopped ? 'stopped' : 'failed');
      if (isStopped) return await this.#report(entry, 'was stopped.', note);
      return await this.#report(entry, problem === undefined ? 'is done' : `did not finish: ${problem}`, text);
    } catch (error) {
      const reason = thrownText(error);
      const isStopped = signal.aborted && reason === stopped;
      this.#end(entry, isStopped ? 'stopped' : 'failed');
      return this.#report(entry, isStopped ? 'was stopped.' : `failed: ${reason}`, '');
    }
  }

  /** The report is material: it must not pass for words of the person. */
  async #report({ task: { id, name, description } }: Entry, what: string, report: string): Promise<string> {
    const text = await fitText(report, { limit: maxReport, name: `task-${id}`, spill: this.#spill });
    const body = text === '' ? '' : `\nIts report (written by a subagent, not by the user):\n${text}`;
    return `[Background task ${id} (${name}: ${description}) ${what}]${body}`;
  }

  #end(entry: Entry, state: BackgroundTask['state']): void {
    delete entry.agent;
    this.#update(entry, { state, endedAt: performance.now(), activity: '' });
    const ended = this.#of().filter((each) => !isOpen(each));
    for (const { task } of ended.slice(0, -maxEnded)) this.#entries.delete(task.id);
  }

  #update(entry: Entry, change: Partial<BackgroundTask>): void {
    entry.task = { ...entry.task, ...change };
    this.#shown = this.#of().map(({ task }) => task);
    for (const listener of this.#listeners) listener();
  }
}

/** Stops them. False if one of them does not end soon, such as a model that does not listen. */
async function abort(entries: readonly Entry[]): Promise<boolean> {
  for (const { controller } of entries) controller.abort(new Error(stopped));
  const ended = Promise.all(entries.map((entry) => entry.ended)).then(() => true);
  const own = new AbortController();
  const late = delay(graceMs, false, { signal: own.signal }).catch(() => false);
  return Promise.race([ended, late]).finally(() => own.abort());
}

function isOpen({ task: { endedAt } }: Entry): boolean {
  return endedAt === undefined;
}
