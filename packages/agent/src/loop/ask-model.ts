import type { Message, Model, ModelEvent, ModelRequest, Usage } from '../models/model.js';
import type { AgentEvent, RequestSpending } from './agent-event.js';
import { callsOf } from './conversation.js';
import { EchoGuard } from './loop-guard.js';

/** The model's half of a turn. */
export interface ModelAnswer extends Omit<Extract<ModelEvent, { type: 'finish' }>, 'type'> {
  /** Problems of calls that must not run, by their position among the calls of the message. */
  problems: ReadonlyMap<number, string>;
}

/** Callbacks during a request. */
export interface RequestObserver {
  /** The answer begins. */
  begin(): void;
  /** An answer was discarded, but it cost tokens. */
  charge(usage: Usage): Promise<RequestSpending>;
}

/** The answer repeated itself without end and was cut off. */
export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';
}

/**
 * Sends one request and passes its events on. Returns the whole answer, or throws what the model throws. `partial` is the
 * text so far, for when the request is aborted.
 */
export async function* askModel(
  model: Model,
  request: ModelRequest,
  partial: { text: string },
  signal: AbortSignal,
  observer: RequestObserver,
): AsyncGenerator<AgentEvent, ModelAnswer> {
  const received: { id: string; problem?: string }[] = [];
  const echo = new EchoGuard();
  let hasBegun = false;
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        if (event.type === 'text-delta') partial.text += event.text;
        yield event;
        if (!hasBegun) observer.begin();
        hasBegun = true;
        if (echo.add(event.text)) throw new EndlessAnswer('Stopped: the model repeated the same phrase without end.');
        break;
      case 'retry':
        partial.text = '';
        received.length = 0;
        yield await retryOf(event, observer);
        // The request was changed and goes out again at once: worth a line that stays.
        if (event.delayMs === 0) yield { type: 'notice', level: 'warning', message: event.reason };
        break;
      case 'fallback':
        partial.text = '';
        received.length = 0;
        yield { type: 'retry', attempt: 1, delayMs: 0, reason: event.reason };
        yield { type: 'notice', level: 'warning', message: fallbackMessage(event) };
        break;
      case 'call':
        received.push({ id: event.call.id });
        break;
      case 'broken-call':
        received.push({ id: event.id, problem: event.problem });
        break;
      case 'finish': {
        const { type: _, ...answer } = event;
        return { ...answer, problems: problemsOf(event.message, received) };
      }
    }
  }
  throw new Error(`${model.provider} ended its answer without a finish event`);
}

/** For people, when another model continues. */
export function fallbackMessage({ reason, model }: Extract<ModelEvent, { type: 'fallback' }>): string {
  return `${reason} Going on with ${model}.`;
}

async function retryOf(event: Extract<ModelEvent, { type: 'retry' }>, observer: RequestObserver): Promise<AgentEvent> {
  const { usage, ...retry } = event;
  return usage ? { ...retry, spent: await observer.charge(usage) } : retry;
}

/** A call runs only if the model reported it as complete, whatever the message contains. */
function problemsOf(message: Message, received: { id: string; problem?: string }[]): Map<number, string> {
  const problems = new Map<number, string>();
  for (const [position, call] of callsOf(message).entries()) {
    const index = received.findIndex(({ id }) => id === call.id);
    const [found] = index < 0 ? [] : received.splice(index, 1);
    const problem = found ? found.problem : 'The call did not arrive completely.';
    if (problem !== undefined) problems.set(position, problem);
  }
  return problems;
}
