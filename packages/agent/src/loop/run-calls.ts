import type { CallOutcome, CallRequest, FunctionResponse } from '@lathe/core';
import { responseText } from '@lathe/core/host';
import type { AgentEvent, RequestSpending } from './agent-event.js';
import type { CallRunner } from './agent-options.js';
import type { AgentState } from './agent-state.js';
import type { ModelAnswer } from './ask-model.js';
import { callsOf } from './conversation.js';
import type { LoopVerdict } from './loop-guard.js';

/**
 * Runs the calls of an answer and adds their results to the history. If the reader of the events stops reading, the
 * calls are aborted and their results still added.
 */
export async function* runCalls(
  state: AgentState,
  answer: ModelAnswer,
  controller: AbortController,
): AsyncGenerator<AgentEvent, LoopVerdict> {
  const requests = requestsOf(answer);
  const running = state.options.runner.run(requests, controller.signal);
  let isRead = false;
  let outcomes: CallOutcome[] = [];
  try {
    outcomes = yield* agentEvents(state, running);
    isRead = true;
  } finally {
    if (!isRead) {
      controller.abort(new Error('nobody reads the results'));
      state.conversation.addResults((await running).map(({ response }) => response));
    }
  }
  const verdict = state.loops.add(requests, outcomes);
  const responses = outcomes.map(({ response }) => response);
  if (verdict === 'warn') note(responses, repeating);
  yield* addContext(state, requests, outcomes, responses);
  const results = state.conversation.addResults(responses);
  const message = state.unseenMedia.notice(results.parts, state.model);
  if (message !== undefined) yield { type: 'notice', level: 'warning', message };
  yield { type: 'message-add', message: results };
  return verdict;
}

const repeating =
  '[You have now made the same calls with the same results three times. Do something else, or say what keeps you from going on.]';

function requestsOf({ message, problems }: ModelAnswer): CallRequest[] {
  return callsOf(message).map((call, index) => {
    const problem = problems.get(index);
    return problem === undefined ? call : { ...call, problem };
  });
}

/** Turns call events into agent events. What a subagent spends also counts for its parent. */
async function* agentEvents(
  { budget }: AgentState,
  run: ReturnType<CallRunner['run']>,
): AsyncGenerator<AgentEvent, CallOutcome[]> {
  const events = run[Symbol.asyncIterator]();
  while (true) {
    const next = await events.next();
    if (next.done) return next.value;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only subagents report, and they report these
    const event = next.value as AgentEvent;
    const spent = event.type === 'subagent-event' ? spentIn(event.event) : undefined;
    if (spent) budget.add(spent.request, spent.requestCost);
    yield event;
  }
}

/** What an event says was spent on a model. */
export function spentIn(event: AgentEvent): RequestSpending | undefined {
  if (event.type === 'subagent-event') return spentIn(event.event);
  if (event.type === 'usage') return event.usage;
  if (event.type === 'retry') return event.spent;
  return event.type === 'compaction-end' ? event.compaction.spent : undefined;
}

/** Adds the context files of folders that the calls touched. */
async function* addContext(
  { options }: AgentState,
  requests: readonly CallRequest[],
  outcomes: readonly CallOutcome[],
  responses: FunctionResponse[],
): AsyncGenerator<AgentEvent> {
  if (!options.context) return;
  for (const [index, { args }] of requests.entries()) {
    if (outcomes[index]?.status !== 'success') continue;
    const { text, notices } = await options.context.touched(args);
    for (const each of notices) yield { type: 'notice', ...each };
    if (text !== '') note(responses, text, index);
  }
}

/** Appends a text to a result. The result object belongs to the outcome, so it is replaced, not changed. */
function note(responses: FunctionResponse[], text: string, index = responses.length - 1): void {
  const response = responses[index];
  if (!response) return;
  if (response.response?.['output'] === '') {
    responses[index] = { ...response, parts: [...(response.parts ?? []), { text }] };
    return;
  }
  const key = response.response?.['error'] === undefined ? 'output' : 'error';
  responses[index] = { ...response, response: { [key]: `${responseText(response)}\n\n${text}` } };
}
