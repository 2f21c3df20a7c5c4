import { data } from './model-wire.js';

/** A stream as a provider sends it: two calls of `ls`, with what is peculiar to this provider around them. */
export interface ProviderStream {
  name: string;
  provider: string;
  wire: 'chat' | 'responses' | 'messages' | 'gemini';
  /** A server that passes on what a model writes. */
  isRaw?: boolean;
  events: string[];
  text: string;
  reasoning: string;
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number; reasoningTokens: number };
}

/** The calls of every stream. */
export const meantCalls = [
  { name: 'ls', args: { path: '/a', depth: 1 } },
  { name: 'ls', args: { path: '/b' } },
];
const [first, second] = ['{"path":"/a","depth":1}', '{"path":"/b"}'];

const delta = (fields: object, finish_reason: string | null = null) =>
  data({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: fields, finish_reason }] });
const usageChunk = (usage: object) => data({ id: 'x', choices: [], usage });
const done = 'data: [DONE]\n\n';
const call = (index: number | undefined, id: string | undefined, args: unknown, name: string | undefined = 'ls') => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
});
/** Id and name first, then pieces of the arguments. */
const pieces = (index: number, id: string, text: string, later: { id?: string; name?: string } = {}) => [
  delta(call(index, id, '')),
  delta({ tool_calls: [{ index, id: later.id, function: { name: later.name, arguments: text.slice(0, 6) } }] }),
  delta({ tool_calls: [{ index, id: later.id, function: { name: later.name, arguments: text.slice(6) } }] }),
];
const counts = (inputTokens: number, outputTokens: number, cachedInputTokens = 0, reasoningTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens,
});
const chat = { wire: 'chat' as const, text: 'Looking.', reasoning: '' };

const chatStreams: ProviderStream[] = [
  {
    ...chat,
    name: 'OpenAI: usage after the end, without choices',
    provider: 'openai',
    events: [
      delta({ role: 'assistant', content: '', refusal: null }),
      delta({ content: 'Look' }),
      delta({ content: 'ing.' }),
      ...pieces(0, 'call_1', first),
      ...pieces(1, 'call_2', second),
      delta({}, 'tool_calls'),
      usageChunk({ prompt_tokens: 50, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 32 } }),
      done,
    ],
    usage: counts(50, 20, 32),
  },
  {
    ...chat,
    name: 'xAI: calls whole, reasoning only in the total',
    provider: 'xai',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', reasoning_content: 'hm' }),
      delta({ content: 'Looking.' }),
      delta({ ...call(0, 'call_1', first) }),
      delta({ ...call(1, 'call_2', second) }, 'tool_calls'),
      usageChunk({
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 303,
        prompt_tokens_details: { cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 290 },
      }),
      done,
    ],
    usage: counts(12, 291, 6, 290),
  },
  {
    ...chat,
    name: 'DeepSeek: usage with the end, hits of the cache apart',
    provider: 'deepseek',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: null, reasoning_content: '' }),
      delta({ content: null, reasoning_content: 'hm' }),
      delta({ content: 'Looking.', reasoning_content: null }),
      ...pieces(0, 'call_0_a', first),
      ...pieces(1, 'call_1_b', second),
      data({
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'tool_calls' }],
        usage: {
          prompt_tokens: 90,
          completion_tokens: 40,
          total_tokens: 130,
          prompt_cache_hit_tokens: 64,
          completion_tokens_details: { reasoning_tokens: 15 },
        },
      }),
      done,
    ],
    usage: counts(90, 40, 64, 15),
  },
  {
    ...chat,
    name: 'DashScope: empty ids and names in later pieces',
    provider: 'dashscope',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: null, reasoning_content: 'hm' }),
      delta({ content: 'Looking.', reasoning_content: null }),
      ...pieces(0, 'call_a', first, { id: '', name: '' }),
      ...pieces(1, 'call_b', second, { id: '', name: '' }),
      delta({ content: '' }, 'tool_calls'),
      usageChunk({ prompt_tokens: 70, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 60 } }),
      done,
    ],
    usage: counts(70, 9, 60),
  },
  {
    ...chat,
    name: 'OpenRouter: comments, signed reasoning',
    provider: 'openrouter',
    reasoning: 'hm',
    events: [
      ': OPENROUTER PROCESSING\n\n',
      delta({
        role: 'assistant',
        content: '',
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
      }),
      delta({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig' }] }),
      delta({ content: 'Looking.' }),
      ...pieces(0, 'tool_0', first),
      ...pieces(1, 'tool_1', second),
      delta({}, 'tool_calls'),
      usageChunk({ prompt_tokens: 40, completion_tokens: 8, cost: 0.1, prompt_tokens_details: { cached_tokens: 30 } }),
      done,
    ],
    usage: counts(40, 8, 30),
  },
  {
    ...chat,
    name: 'Mistral: content as a list, both calls in one chunk with the end',
    provider: 'mistral',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: [{ type: 'text', text: 'Looking.' }] }),
      data({
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [
                { id: 'D681PevKs', function: { name: 'ls', arguments: first }, index: 0 },
                { id: 'E000PevKs', function: { name: 'ls', arguments: second }, index: 1 },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 },
      }),
      done,
    ],
    usage: counts(30, 7),
  },
  {
    ...chat,
    name: 'Groq: usage in a field of its own',
    provider: 'groq',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: null, reasoning: 'hm' }),
      delta({ content: 'Looking.' }),
      delta({ ...call(0, 'fc_1', first) }),
      delta({ ...call(1, 'fc_2', second) }),
      data({
        choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
        x_groq: { usage: { prompt_tokens: 21, completion_tokens: 6, total_tokens: 27 } },
      }),
      done,
    ],
    usage: counts(21, 6),
  },
  {
    ...chat,
    name: 'Moonshot: usage inside the choice, ids with a colon',
    provider: 'moonshot',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: '', reasoning_content: 'hm' }),
      delta({ content: 'Looking.' }),
      ...pieces(0, 'functions.ls:0', first),
      ...pieces(1, 'functions.ls:1', second),
      data({
        choices: [
          {
            index: 0,
            delta: {},
            finish_reason: 'tool_calls',
            usage: { prompt_tokens: 66, completion_tokens: 11, total_tokens: 77, cached_tokens: 50 },
          },
        ],
      }),
      done,
    ],
    usage: counts(66, 11, 50),
  },
  {
    ...chat,
    name: 'GLM: arguments as an object',
    provider: 'zai',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', reasoning_content: 'hm' }),
      delta({ content: 'Looking.' }),
      delta({ ...call(0, 'call_-1', JSON.parse(first)) }),
      delta({ ...call(1, 'call_-2', JSON.parse(second)) }),
      delta({ content: '' }, 'tool_calls'),
      usageChunk({ prompt_tokens: 15, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } }),
      done,
    ],
    usage: counts(15, 5, 3),
  },
  {
    ...chat,
    name: 'Together: no index',
    provider: 'together',
    events: [
      delta({ role: 'assistant', content: 'Looking.' }),
      delta({ ...call(undefined, 'call_x', first) }),
      delta({ ...call(undefined, 'call_y', second) }),
      delta({}, 'tool_calls'),
      usageChunk({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }),
      done,
    ],
    usage: counts(9, 4),
  },
  {
    ...chat,
    name: 'Ollama: every call has the index 0',
    provider: 'ollama',
    isRaw: true,
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: '', reasoning: 'hm' }),
      delta({ role: 'assistant', content: 'Looking.' }),
      delta({ role: 'assistant', content: '', ...call(0, 'call_k', first) }),
      delta({ role: 'assistant', content: '', ...call(0, 'call_l', second) }),
      delta({ role: 'assistant', content: '' }, 'tool_calls'),
      usageChunk({ prompt_tokens: 33, completion_tokens: 12, total_tokens: 45 }),
      done,
    ],
    usage: counts(33, 12),
  },
  {
    ...chat,
    name: 'llama.cpp: calls and thoughts as text',
    provider: 'llamacpp',
    isRaw: true,
    text: '',
    reasoning: 'hm',
    events: [
      delta({ role: 'assistant', content: null }),
      delta({ content: '<think>hm</th' }),
      delta({ content: 'ink>\n\n<tool_call>{"name":"ls","argu' }),
      delta({ content: `ments":${first}}</tool_call>` }),
      delta({ content: `\n<tool_call>{"name":"ls","arguments":${second}}</tool_call>` }),
      delta({}, 'stop'),
      usageChunk({ prompt_tokens: 31, completion_tokens: 14, total_tokens: 45 }),
      done,
    ],
    usage: counts(31, 14),
  },
];

const named = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
const block = (index: number, content_block: object, deltas: object[]) => [
  named('content_block_start', { index, content_block }),
  ...deltas.map((each) => named('content_block_delta', { index, delta: each })),
  named('content_block_stop', { index }),
];
const toolUse = (index: number, id: string, text: string) =>
  block(index, { type: 'tool_use', id, name: 'ls', input: {} }, [
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: text.slice(0, 6) },
    { type: 'input_json_delta', partial_json: text.slice(6) },
  ]);
const started = (usage: object) => named('message_start', { message: { role: 'assistant', content: [], usage } });
const stopped = (usage: object) => [
  named('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
  named('message_stop', {}),
];

const messagesStreams: ProviderStream[] = [
  {
    name: 'Anthropic: thinking, a search by the server, caches',
    provider: 'anthropic',
    wire: 'messages',
    text: 'Looking.',
    reasoning: 'hm',
    events: [
      started({ input_tokens: 10, cache_read_input_tokens: 80, cache_creation_input_tokens: 7, output_tokens: 1 }),
      named('ping', {}),
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 'sig' },
      ]),
      ...block(1, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"query":"x"}' },
      ]),
      ...block(2, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }, []),
      ...block(3, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Looking.' }]),
      ...toolUse(4, 'toolu_1', first),
      ...toolUse(5, 'toolu_2', second),
      ...stopped({ output_tokens: 44 }),
    ],
    usage: counts(97, 44, 80),
  },
  {
    name: 'A gateway in the format of Anthropic: all usage at the end',
    provider: 'minimax',
    wire: 'messages',
    text: 'Looking.',
    reasoning: '',
    events: [
      started({ input_tokens: 0, output_tokens: 0 }),
      ...block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Looking.' }]),
      ...toolUse(1, 'call_function_1', first),
      ...toolUse(2, 'call_function_2', second),
      ...stopped({ input_tokens: 61, cache_read_input_tokens: 20, output_tokens: 18 }),
    ],
    usage: counts(81, 18, 20),
  },
];

const candidate = (parts: object[], fields: object = {}, usageMetadata?: object) =>
  data({ candidates: [{ index: 0, content: { role: 'model', parts }, ...fields }], usageMetadata });
const partial = (functionCall: object) => candidate([{ functionCall }]);
const path = (text: string) => [{ jsonPath: '$.path', stringValue: text }];

const geminiStreams: ProviderStream[] = [
  {
    name: 'Gemini: thoughts, a signature, calls without ids',
    provider: 'gemini',
    wire: 'gemini',
    text: 'Looking.',
    reasoning: 'hm',
    events: [
      candidate([{ text: 'hm', thought: true }]),
      candidate([{ text: 'Looking.' }]),
      candidate([{ functionCall: { name: 'ls', args: JSON.parse(first) }, thoughtSignature: 'sig' }]),
      candidate([{ functionCall: { name: 'ls', args: JSON.parse(second) } }]),
      candidate(
        [{ text: '' }],
        { finishReason: 'STOP' },
        {
          promptTokenCount: 25,
          candidatesTokenCount: 9,
          thoughtsTokenCount: 13,
          cachedContentTokenCount: 12,
        },
      ),
    ],
    usage: counts(25, 22, 12, 13),
  },
  {
    name: 'Vertex: arguments value by value',
    provider: 'vertex',
    wire: 'gemini',
    text: 'Looking.',
    reasoning: '',
    events: [
      candidate([{ text: 'Looking.' }]),
      partial({ name: 'ls', willContinue: true }),
      partial({ partialArgs: [{ ...path('/')[0], willContinue: true }], willContinue: true }),
      partial({ partialArgs: path('a'), willContinue: true }),
      partial({ partialArgs: [{ jsonPath: '$.depth', numberValue: 1 }], willContinue: true }),
      partial({}),
      partial({ name: 'ls', willContinue: true }),
      partial({ partialArgs: path('/b'), willContinue: true }),
      partial({}),
      candidate([], { finishReason: 'STOP' }, { promptTokenCount: 8, candidatesTokenCount: 3 }),
    ],
    usage: counts(8, 3),
  },
];

const item = (output_index: number, id: string, text: string) => {
  const fields = { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'ls' };
  return [
    named('response.output_item.added', { output_index, item: { ...fields, status: 'in_progress', arguments: '' } }),
    named('response.function_call_arguments.delta', { output_index, delta: text.slice(0, 6) }),
    named('response.function_call_arguments.delta', { output_index, delta: text.slice(6) }),
    named('response.output_item.done', { output_index, item: { ...fields, status: 'completed', arguments: text } }),
  ];
};

const responsesStreams: ProviderStream[] = [
  {
    name: 'OpenAI Responses: encrypted reasoning, items side by side',
    provider: 'openai',
    wire: 'responses',
    text: 'Looking.',
    reasoning: 'hm',
    events: [
      named('response.created', { response: { status: 'in_progress' } }),
      named('response.output_item.added', { output_index: 0, item: { type: 'reasoning', id: 'rs' } }),
      named('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'hm' }),
      named('response.output_item.added', { output_index: 1, item: { type: 'message', content: [] } }),
      named('response.output_text.delta', { output_index: 1, delta: 'Looking.' }),
      named('response.output_item.done', {
        output_index: 0,
        item: { type: 'reasoning', id: 'rs', encrypted_content: 'e' },
      }),
      ...item(2, 'call_1', first),
      named('response.output_item.done', {
        output_index: 1,
        item: { type: 'message', content: [{ type: 'output_text', text: 'Looking.' }] },
      }),
      ...item(3, 'call_2', second),
      named('response.completed', {
        response: {
          status: 'completed',
          usage: {
            input_tokens: 77,
            input_tokens_details: { cached_tokens: 64 },
            output_tokens: 30,
            output_tokens_details: { reasoning_tokens: 18 },
          },
        },
      }),
    ],
    usage: counts(77, 30, 64, 18),
  },
];

export const providerStreams: readonly ProviderStream[] = [
  ...chatStreams,
  ...responsesStreams,
  ...messagesStreams,
  ...geminiStreams,
];
