import type { FinishReason, Message, Model, ModelRequest, Usage } from '../models/model.js';
import type { AgentEvent } from './agent-event.js';
import { EchoGuard } from './loop-guard.js';

/** The model's half of a turn. */
export interface ModelAnswer {
  message: Message;
  reason: FinishReason;
  usage: Usage;
  /** Problems of calls that must not run, by their position among the calls of the message. */
  problems: ReadonlyMap<number, string>;
}

/** The answer would not stop repeating itself and was cut off. */
export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';
}

/** Text of the answer as far as it has come; what is left of it when the request is aborted. */
export interface PartialAnswer {
  text: string;
}

/** Sends one request and passes on what arrives. Returns the whole answer, or throws what the model throws. */
export async function* askModel(
  model: Model,
  request: ModelRequest,
  partial: PartialAnswer,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ModelAnswer> {
  const received: { id: string; problem?: string }[] = [];
  const echo = new EchoGuard();
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text-delta':
        partial.text += event.text;
        yield event;
        if (echo.add(event.text)) throw new EndlessAnswer('The answer repeated itself without end.');
        break;
      case 'reasoning-delta':
        yield event;
        if (echo.add(event.text)) throw new EndlessAnswer('The reasoning repeated itself without end.');
        break;
      case 'retry':
        partial.text = '';
        received.length = 0;
        yield event;
        break;
      case 'call':
        received.push({ id: event.call.id });
        break;
      case 'broken-call':
        received.push({ id: event.id, problem: event.problem });
        break;
      case 'finish': {
        const { message, reason, usage } = event;
        return { message, reason, usage, problems: problemsOf(message, received) };
      }
    }
  }
  throw new Error(`${model.provider} ended its answer without saying so`);
}

/** A call runs only if the model layer said that it is complete, whatever the message looks like. */
function problemsOf(message: Message, received: { id: string; problem?: string }[]): Map<number, string> {
  const problems = new Map<number, string>();
  let position = 0;
  for (const { functionCall } of message.parts) {
    if (!functionCall) continue;
    const index = received.findIndex(({ id }) => id === functionCall.id);
    const [found] = index < 0 ? [] : received.splice(index, 1);
    const problem = found ? found.problem : 'The call did not arrive completely.';
    if (problem !== undefined) problems.set(position, problem);
    position += 1;
  }
  return problems;
}
