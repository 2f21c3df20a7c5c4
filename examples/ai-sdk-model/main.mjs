// An agent with a model of the AI SDK: node main.mjs [directory]
import { createAgentLathe, openAgent } from '@lathe/agent';
import { fromLanguageModel } from '@lathe/agent/models';

/** Stands for a model of a provider package, such as `bedrock('…')`: the same interface, without a network. */
const languageModel = {
  specificationVersion: 'v3',
  provider: 'example',
  modelId: 'offline',
  supportedUrls: {},
  async doStream({ prompt }) {
    const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
    return { stream: ReadableStream.from(results.length === 0 ? callOf('glob', { pattern: '*' }) : answerOf(results)) };
  },
};

function* callOf(toolName, input) {
  yield { type: 'tool-call', toolCallId: 'look', toolName, input: JSON.stringify(input) };
  yield finish('tool-calls');
}

function* answerOf([{ output }]) {
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: `The tool said: ${JSON.stringify(output.value)}` };
  yield { type: 'text-end', id: 'answer' };
  yield finish('stop');
}

function finish(reason) {
  const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
  return { type: 'finish', finishReason: { unified: reason, raw: reason }, usage };
}

const lathe = await createAgentLathe({ cwd: process.argv[2] ?? process.cwd(), env: process.env });
const agent = openAgent(lathe, { model: fromLanguageModel(languageModel), budgets: { turns: 5 } });
for await (const event of agent.prompt('What is here?', AbortSignal.timeout(60_000))) {
  if (event.type === 'call-end') console.log(`${event.outcome.name}: ${event.outcome.status}`);
  if (event.type === 'prompt-end') console.log(`${event.end.reason}: ${event.end.text}`);
}
await lathe.close();
