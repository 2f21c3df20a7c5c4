import { createHash, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { ReadWriteLock } from '../../async/read-write-lock.js';
import type { ApprovalRequest, Approver, CallOutcome } from '../../contract/call.js';
import type { Display } from '../../contract/display.js';
import { advice, denyAll } from '../../scheduler/approve.js';
import type { Scheduler, SchedulerOptions } from '../../scheduler/scheduler.js';
import { builtIn, type ToolRegistry } from '../../tools/tool-registry.js';
import type { AnyTool, ToolKind } from '../../tools/tools.js';
import { decisionOf, type FormAnswer } from './approval-form.js';

/** What a session needs from the library: the tools, and schedulers that apply the rules. */
export interface Toolbox {
  readonly tools: ToolRegistry;
  readonly host: { openScheduler(options: Partial<Pick<SchedulerOptions, 'approver'>>): Scheduler };
  close(): Promise<void>;
}

export interface SessionCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** Whether the client can ask its user. */
  canAsk: boolean;
  /** The user's reply to an earlier question. */
  answer?: { question: string; reply: FormAnswer };
  onOutput?: (display: Display) => void;
}

/** The outcome of a call, or the question that must be answered before it can run. */
export type SessionAnswer =
  | { type: 'outcome'; outcome: CallOutcome }
  | { type: 'question'; id: string; request: ApprovalRequest };

const readOnlyKinds: ReadonlySet<ToolKind> = new Set(['read', 'search', 'fetch']);
/** Plan mode is for the user of Lathe, not for the client's model, and a subagent needs the model of an agent. */
const notServed = new Set(['exit_plan_mode', 'task']);
const maxParallel = 10;
const maxQuestions = 100;
/** Each waiting call takes memory. */
const maxCalls = 5_000;

/**
 * The calls of one client. A call that needs approval ends with a question and changes nothing. When the client sends
 * the call again with the answer, the answer counts once, and only for exactly what the user was shown.
 */
export class ToolSession {
  readonly tools: readonly AnyTool[];
  readonly #toolbox: Toolbox;
  readonly #lock = new ReadWriteLock(maxParallel);
  /** Digests of the questions that were shown, by id. */
  readonly #questions = new Map<string, string>();
  /** How to allow the calls that were declined. */
  readonly #declined = new WeakMap<SessionCall, string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  /** Offers the tools with these names; by default the built-in ones. */
  constructor(toolbox: Toolbox, names?: readonly string[]) {
    this.#toolbox = toolbox;
    this.tools = servedTools(toolbox.tools, names);
    setMaxListeners(0, this.#closing.signal);
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Throws if the question was never asked or is already answered. */
  assertAsked(question: string): void {
    if (!this.#questions.has(question)) throw new Error('there is no such open question');
  }

  /** Does not reject when a tool fails. */
  async call(call: SessionCall, signal: AbortSignal): Promise<SessionAnswer> {
    if (this.#running.size >= maxCalls) throw new Error(`${maxCalls} calls are running; wait for some of them`);
    const tool = this.tools.find(({ name }) => name === call.name);
    const isShared = tool !== undefined && readOnlyKinds.has(tool.kind);
    const running = this.#lock.run(isShared ? 'read' : 'write', signal, () => this.#run(call, signal));
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Cancels the running calls and closes the toolbox. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the session has ended'));
    await Promise.allSettled(this.#running);
    await this.#toolbox.close();
  }

  async #run(call: SessionCall, signal: AbortSignal): Promise<SessionAnswer> {
    const { id, name, args, onOutput } = call;
    const asked = new AbortController();
    let question: ApprovalRequest | undefined;
    const approver = this.#approver(call, (request) => {
      question = request;
      asked.abort(new Error('asked'));
    });
    const ending = AbortSignal.any([signal, asked.signal, this.#closing.signal]);
    const run = this.#toolbox.host.openScheduler({ approver }).run([{ id, name, args }], ending);
    for await (const event of run) if (event.type === 'call-output') onOutput?.(event.display);
    const [outcome] = await run;
    if (question) return { type: 'question', id: this.#remember(question), request: question };
    if (!outcome) throw new Error('the scheduler returned no outcome');
    // Clients may decline without showing the question to anybody.
    const hint = this.#declined.get(call) ?? '';
    return {
      type: 'outcome',
      outcome: hint === '' ? outcome : { ...outcome, llmContent: [outcome.llmContent, hint].flat() },
    };
  }

  #approver(call: SessionCall, ask: (request: ApprovalRequest) => void): Approver {
    const { answer, canAsk } = call;
    const shown = answer && this.#questions.get(answer.question);
    if (answer) this.#questions.delete(answer.question);
    return {
      decide: async (request, signal) => {
        if (answer && shown === digestOf(request)) {
          const decision = decisionOf(answer.reply, request);
          if (decision.outcome === 'deny') this.#declined.set(call, advice(request));
          return decision;
        }
        // The client gets a question as the end of a call, to be made again; a call that already runs cannot end so.
        if (!canAsk || request.isMidCall) return denyAll.decide(request, signal);
        ask(request);
        throw signal.reason;
      },
    };
  }

  #remember(request: ApprovalRequest): string {
    const [oldest] = this.#questions.keys();
    if (oldest !== undefined && this.#questions.size >= maxQuestions) this.#questions.delete(oldest);
    const id = randomUUID();
    this.#questions.set(id, digestOf(request));
    return id;
  }
}

/** The tools with these names, or the built-in ones that work without an agent. Throws for a name that cannot be served. */
export function servedTools(registry: ToolRegistry, names?: readonly string[]): AnyTool[] {
  if (!names)
    return registry
      .entries()
      .flatMap(({ tool, source }) => (source === builtIn && !notServed.has(tool.name) ? [tool] : []));
  const unusable = names.find((name) => notServed.has(name));
  if (unusable !== undefined) throw new Error(`${unusable} cannot be served: it needs an agent of Lathe.`);
  const tools = registry.getAllTools().filter(({ name }) => names.includes(name));
  const unknown = names.filter((name) => !tools.some((tool) => tool.name === name));
  if (unknown.length > 0) throw new Error(`There is no tool to serve named ${unknown.join(', ')}.`);
  return tools;
}

function digestOf({ tool, args, confirmation, reason }: ApprovalRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, args, confirmation, reason]))
    .digest('hex');
}
