import type { ServerTurn } from './model-server.js';

/** One turn as the events of each wire format, cut into pieces as real servers do. */
export type Encoder = (turn: ServerTurn, model: string, count: number) => string[];

export const openaiEvents: Encoder = (turn, model, count) => {
  const base = { id: `chatcmpl-${count}`, object: 'chat.completion.chunk', created: 1, model };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason }] });
  const events = [chunk({ role: 'assistant', content: '' })];
  for (const reasoning_content of pieces(turn.reasoning)) events.push(chunk({ reasoning_content }));
  for (const content of pieces(turn.text)) events.push(chunk({ content }));
  for (const [index, call] of (turn.calls ?? []).entries()) {
    const { id = `call_${count}_${index}`, name } = call;
    events.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
    // Qwen's servers repeat empty ids and names in later pieces.
    for (const text of pieces(argumentsOf(turn, index), 9))
      events.push(
        chunk({ tool_calls: [{ index, id: '', type: 'function', function: { name: '', arguments: text } }] }),
      );
  }
  const finish = { stop: 'stop', calls: 'tool_calls', length: 'length', filter: 'content_filter' }[finishOf(turn)];
  const { input, output, cached = 0, reasoning = 0 } = usageOf(turn);
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  return [...events, chunk({}, finish), data({ ...base, choices: [], usage }), 'data: [DONE]\n\n'];
};

export const anthropicEvents: Encoder = (turn, model, count) => {
  const event = (type: string, fields: object = {}) => `event: ${type}\n${data({ type, ...fields })}`;
  const { input, output, cached = 0 } = usageOf(turn);
  const usage = {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  };
  const events = [
    event('message_start', {
      message: { id: `msg_${count}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage },
    }),
    event('ping'),
  ];
  let index = 0;
  const block = (content_block: object, deltas: object[]) => {
    events.push(event('content_block_start', { index, content_block }));
    for (const delta of deltas) events.push(event('content_block_delta', { index, delta }));
    events.push(event('content_block_stop', { index }));
    index += 1;
  };
  if (turn.reasoning !== undefined)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(turn.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: `signature-${count}` },
    ]);
  if (turn.text !== undefined)
    block(
      { type: 'text', text: '' },
      pieces(turn.text).map((text) => ({ type: 'text_delta', text })),
    );
  for (const [position, { id = `toolu_${count}_${position}`, name }] of (turn.calls ?? []).entries())
    block(
      { type: 'tool_use', id, name, input: {} },
      pieces(argumentsOf(turn, position), 9).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  const stop_reason = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filter: 'refusal' }[finishOf(turn)];
  events.push(
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: output } }),
  );
  return [...events, event('message_stop')];
};

export const geminiEvents: Encoder = (turn, model, count) => {
  const { input, output, cached = 0 } = usageOf(turn);
  const chunk = (parts: object[], fields: object = {}) =>
    data({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...fields }],
      usageMetadata: {
        promptTokenCount: input,
        candidatesTokenCount: output,
        cachedContentTokenCount: cached,
        totalTokenCount: input + output,
      },
      modelVersion: model,
    });
  const events = pieces(turn.reasoning).map((text) => chunk([{ text, thought: true }]));
  events.push(...pieces(turn.text).map((text) => chunk([{ text }])));
  for (const [index, { id, name, args }] of (turn.calls ?? []).entries()) {
    const functionCall = { ...(id === undefined ? {} : { id }), name, args };
    events.push(chunk([{ functionCall, ...(index === 0 ? { thoughtSignature: `signature-${count}` } : {}) }]));
  }
  const finishReason = { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' }[finishOf(turn)];
  return [...events, chunk([{ text: '' }], { finishReason })];
};

export function finishOf({ finish, calls = [] }: ServerTurn): NonNullable<ServerTurn['finish']> {
  return finish ?? (calls.length > 0 ? 'calls' : 'stop');
}

export function usageOf({ usage }: ServerTurn): NonNullable<ServerTurn['usage']> {
  return usage ?? { input: 1000, output: 10 };
}

export function argumentsOf({ finish, calls = [] }: ServerTurn, index: number): string {
  const args = calls[index]?.args;
  const text = typeof args === 'string' ? args : JSON.stringify(args ?? {});
  return finish === 'length' && index === calls.length - 1 ? text.slice(0, Math.ceil(text.length / 2)) : text;
}

export function pieces(text = '', size = 5): string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

export function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
