/**
 * The server that the official conformance suite tests: ours over HTTP, with sessions, both eras, token, Host and Origin
 * as in `lathe serve --http`, but with the tools, resources and prompts that the suite asks for. Prints its address and
 * token.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  CallToolResult,
  ElicitRequestFormParams,
  GetPromptResult,
  InputRequest,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import * as sdk from '@modelcontextprotocol/server';
import { createLathe } from '../packages/core/src/lathe/create-lathe.js';
import { serveHttp } from '../packages/core/src/mcp/server/serve-http.js';

type Answer<T> = T | InputRequiredResult | Promise<T | InputRequiredResult>;
type TestTool = (args: Record<string, unknown>, context: ServerContext) => Answer<CallToolResult>;
type FormProperties = ElicitRequestFormParams['requestedSchema']['properties'];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const states = sdk.createRequestStateCodec<{ round: number }>({ key: randomBytes(32) });

const text = (content: string): CallToolResult => ({ content: [{ type: 'text', text: content }] });
const form = (message: string, properties: FormProperties, required = Object.keys(properties)): InputRequest =>
  sdk.inputRequired.elicit({ mode: 'form', message, requestedSchema: { type: 'object', properties, required } });
const sampling = (prompt: string): InputRequest =>
  sdk.inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens: 100,
  });
const name: FormProperties = { name: { type: 'string' } };

/** Asks first; continues when every question has an answer of its kind. */
async function asking(
  { mcpReq }: ServerContext,
  questions: Record<string, InputRequest>,
  answered: (answers: Record<string, unknown>) => Answer<CallToolResult>,
  round?: number,
): Promise<CallToolResult | InputRequiredResult> {
  const answers = mcpReq.inputResponses ?? {};
  const isComplete = Object.keys(questions).every((key) => {
    const view = sdk.inputResponse(answers, key);
    return view.kind === 'elicit' ? view.action !== 'accept' || view.content !== undefined : view.kind !== 'missing';
  });
  if (isComplete) return answered(answers);
  const state = round === undefined ? {} : { requestState: await states.mint({ round }) };
  return sdk.inputRequired({ inputRequests: questions, ...state });
}

const shown = (label: string) => (answers: Record<string, unknown>) =>
  text(`${label}: ${JSON.stringify(Object.values(answers))}`);
const completed = (answers: Record<string, unknown>) => {
  const [view = { kind: 'missing' }] = Object.keys(answers).map((key) => sdk.inputResponse(answers, key));
  if (view.kind !== 'elicit') return text('Elicitation failed');
  return text(`Elicitation completed: action=${view.action}, content=${JSON.stringify(view.content ?? {})}`);
};

const enums: FormProperties = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [
      { const: 'value1', title: 'First Option' },
      { const: 'value2', title: 'Second Option' },
    ],
  },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'value1', title: 'First Choice' },
        { const: 'value2', title: 'Second Choice' },
      ],
    },
  },
};
const defaults: FormProperties = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const mixed = {
  uri: 'test://mixed-content-resource',
  mimeType: 'application/json',
  text: '{"test":"data","value":123}',
};
const embedded = {
  uri: 'test://embedded-resource',
  mimeType: 'text/plain',
  text: 'This is an embedded resource content.',
};

async function log({ mcpReq }: ServerContext): Promise<CallToolResult> {
  await mcpReq.log('info', 'Tool execution started');
  await pause(50);
  await mcpReq.log('info', 'Tool processing data');
  await pause(50);
  await mcpReq.log('info', 'Tool execution completed');
  return text('logged');
}

async function reportProgress({ mcpReq: { _meta: meta, notify } }: ServerContext): Promise<CallToolResult> {
  const progressToken = meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    await pause(50);
  }
  return text('done');
}

/** Two questions, one after the other. */
function inTwoRounds(context: ServerContext): Answer<CallToolResult> {
  const { round } = context.mcpReq.requestState<{ round: number }>() ?? { round: 1 };
  const second = () =>
    asking(
      context,
      { step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) },
      shown('Both'),
      2,
    );
  if (round === 2) return second();
  return asking(context, { step1: form('Step 1: What is your name?', name) }, second, 1);
}

/** Only what the client can answer is asked. */
function withinCapabilities(context: ServerContext): Answer<CallToolResult> {
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const declared = Object.keys(Object(envelope[sdk.CLIENT_CAPABILITIES_META_KEY]));
  const all = { sampling: sampling('Say something'), elicitation: form('Your name?', name) };
  const questions = Object.fromEntries(Object.entries(all).filter(([kind]) => declared.includes(kind)));
  return asking(context, questions, shown('Answers'));
}

const ok: FormProperties = { ok: { type: 'boolean' } };
const roots = (): InputRequest => sdk.inputRequired.listRoots();

const tools: Record<string, TestTool> = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({ content: [{ type: 'resource', resource: embedded }] }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      { type: 'resource', resource: mixed },
    ],
  }),
  test_tool_with_logging: (_args, context) => log(context),
  test_logging_tool: (_args, context) => log(context),
  test_error_handling: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  test_tool_with_progress: (_args, context) => reportProgress(context),
  test_sampling: ({ prompt }, context) => asking(context, { llm: sampling(String(prompt)) }, shown('LLM response')),
  test_elicitation: ({ message }, context) => {
    const properties: FormProperties = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    return asking(context, { user: form(String(message), properties) }, shown('User response'));
  },
  test_elicitation_sep1034_defaults: (_args, context) =>
    asking(context, { user: form('Check these', defaults, []) }, completed),
  test_elicitation_sep1330_enums: (_args, context) => asking(context, { user: form('Choose', enums, []) }, completed),
  test_missing_capability: (_args, context) => asking(context, { llm: sampling('Hello') }, shown('LLM')),
  test_streaming_elicitation: (_args, context) => asking(context, { user: form('Your name?', name) }, shown('Name')),
  test_input_required_result_elicitation: (_args, context) =>
    asking(context, { user_name: form('What is your name?', name) }, (answers) => {
      const { name: given = '' } = sdk.acceptedContent(answers, 'user_name') ?? {};
      return text(`Hello, ${String(given)}!`);
    }),
  test_input_required_result_sampling: (_args, context) =>
    asking(context, { capital_question: sampling('What is the capital of France?') }, shown('Answer')),
  test_input_required_result_list_roots: (_args, context) => asking(context, { client_roots: roots() }, shown('Roots')),
  test_input_required_result_request_state: (_args, context) =>
    asking(context, { confirm: form('Please confirm', ok) }, () => text('state-ok'), 1),
  test_input_required_result_tampered_state: (_args, context) =>
    asking(context, { confirm: form('Please confirm', ok) }, () => text('state-ok'), 1),
  test_input_required_result_multiple_inputs: (_args, context) => {
    const questions = {
      user_name: form('What is your name?', name),
      greeting: sampling('Generate a greeting'),
      client_roots: roots(),
    };
    return asking(context, questions, shown('All'), 1);
  },
  test_input_required_result_multi_round: (_args, context) => inTwoRounds(context),
  test_input_required_result_capabilities: (_args, context) => withinCapabilities(context),
};

const contents: Record<string, { mimeType: string } & ({ text: string } | { blob: string })> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched' },
};

type Message = GetPromptResult['messages'][number];
const says = (content: string): Message => ({ role: 'user', content: { type: 'text', text: content } });
type TestPrompt = (args: Record<string, string>, context: ServerContext) => GetPromptResult | InputRequiredResult;

const prompts: Record<string, { args: string[]; get: TestPrompt }> = {
  test_simple_prompt: { args: [], get: () => ({ messages: [says('This is a simple prompt for testing.')] }) },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => ({ messages: [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri: uri = '' }) => {
      const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          says('Please process the embedded resource above.'),
        ],
      };
    },
  },
  test_prompt_with_image: {
    args: [],
    get: () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
        says('Please analyze the image above.'),
      ],
    }),
  },
  test_input_required_result_prompt: {
    args: [],
    get: (_args, { mcpReq }) => {
      const given = sdk.acceptedContent(mcpReq.inputResponses, 'user_context');
      if (given) return { messages: [says(`Context: ${JSON.stringify(given)}`)] };
      const question = form('What context should the prompt use?', { context: { type: 'string' } });
      return sdk.inputRequired({ inputRequests: { user_context: question } });
    },
  },
};

function testServer(): sdk.Server {
  const server = new sdk.Server(
    { name: 'lathe-conformance', version: '1' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((tool) => ({ name: tool, description: tool, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const tool = tools[params.name];
    if (!tool) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    return tool(params.arguments ?? {}, context);
  });
  addResources(server);
  addPrompts(server);
  return server;
}

function addResources(server: sdk.Server): void {
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(contents).map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const content = contents[uri];
    if (content) return { contents: [{ uri, ...content }] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) throw new sdk.ResourceNotFoundError(uri);
    const filled = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: filled }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server: sdk.Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([prompt, { args }]) => ({
      name: prompt,
      description: prompt,
      arguments: args.map((arg) => ({ name: arg, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = prompts[params.name];
    if (!prompt) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown prompt ${params.name}`);
    return prompt.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park'], total: 2 } }));
}

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const [cwd = process.cwd()] = process.argv.slice(2);
await serveHttp(
  {
    open: () => createLathe({ cwd, env: {}, home: cwd }),
    port: 0,
    version: '1',
    instructions: '',
    serverFor: testServer,
    onListening: (url, token) => console.log(JSON.stringify({ url, token })),
    log: (message) => console.error(message),
  },
  stop.signal,
);
