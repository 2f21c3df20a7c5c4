import { argumentsOf, data, type Encoder, finishOf, pieces, usageOf } from './model-wire.js';

type Item = { id: string; type: string; [key: string]: unknown };

/** One turn as the events of OpenAI's Responses API. */
export const responsesEvents: Encoder = (turn, model, count) => {
  let sequence_number = 0;
  const event = (type: string, fields: object) =>
    `event: ${type}\n${data({ type, ...fields, sequence_number: sequence_number++ })}`;
  const started = responseOf(model, count, { status: 'in_progress', output: [] });
  const events = [
    event('response.created', { response: started }),
    event('response.in_progress', { response: started }),
  ];
  const output: Item[] = [];
  const item = (begun: Item, pieceEvents: (place: object) => string[], done: Item) => {
    const output_index = output.length;
    events.push(event('response.output_item.added', { output_index, item: begun }));
    events.push(...pieceEvents({ item_id: begun.id, output_index }));
    events.push(event('response.output_item.done', { output_index, item: done }));
    output.push(done);
  };
  if (turn.reasoning !== undefined) {
    const [id, text] = [`rs_${count}`, turn.reasoning];
    const done = {
      id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
      encrypted_content: `enc_${count}`,
    };
    item({ id, type: 'reasoning', summary: [], encrypted_content: '' }, (at) => summaryEvents(event, at, text), done);
  }
  if (turn.text !== undefined) {
    const [id, text] = [`msg_${count}`, turn.text];
    const fields = { id, type: 'message', role: 'assistant' };
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
    item({ ...fields, status: 'in_progress', content: [] }, (at) => textEvents(event, at, text), {
      ...fields,
      status: 'completed',
      content,
    });
  }
  for (const [index, { id: call_id = `call_${count}_${index}`, name }] of (turn.calls ?? []).entries()) {
    const fields = { id: `fc_${count}_${index}`, type: 'function_call', call_id, name };
    const args = argumentsOf(turn, index);
    const isCut = turn.finish === 'length' && index === (turn.calls?.length ?? 0) - 1;
    const status = isCut ? 'incomplete' : 'completed';
    item({ ...fields, status: 'in_progress', arguments: '' }, (at) => argumentEvents(event, at, args, isCut), {
      ...fields,
      status,
      arguments: args,
    });
  }
  const { input, output: written, cached = 0, reasoning = 0 } = usageOf(turn);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + written,
  };
  const reason = { stop: null, calls: null, length: 'max_output_tokens', filter: 'content_filter' }[finishOf(turn)];
  const status = reason === null ? 'completed' : 'incomplete';
  const incomplete_details = reason === null ? null : { reason };
  const response = responseOf(model, count, { status, output, usage, incomplete_details });
  return [...events, event(`response.${status}`, { response })];
};

type Event = (type: string, fields: object) => string;

function summaryEvents(event: Event, at: object, text: string): string[] {
  const place = { ...at, summary_index: 0 };
  return [
    event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }),
    ...pieces(text).map((delta) => event('response.reasoning_summary_text.delta', { ...place, delta })),
    event('response.reasoning_summary_text.done', { ...place, text }),
    event('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } }),
  ];
}

function textEvents(event: Event, at: object, text: string): string[] {
  const place = { ...at, content_index: 0 };
  const part = (content: string) => ({ type: 'output_text', text: content, annotations: [], logprobs: [] });
  return [
    event('response.content_part.added', { ...place, part: part('') }),
    ...pieces(text).map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part: part(text) }),
  ];
}

function argumentEvents(event: Event, at: object, text: string, isCut: boolean): string[] {
  const deltas = pieces(text, 9).map((delta) => event('response.function_call_arguments.delta', { ...at, delta }));
  return isCut ? deltas : [...deltas, event('response.function_call_arguments.done', { ...at, arguments: text })];
}

function responseOf(model: string, count: number, fields: object): object {
  return {
    id: `resp_${count}`,
    object: 'response',
    created_at: 1,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    store: false,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: null,
    ...fields,
  };
}
