// An agent with a model of your own: node main.mjs [directory]
import { createAgentLathe, openAgent } from '@lathe/agent';

/** Looks at the folder, then says how many entries it has. Yours would ask a server here. */
const model = {
  id: 'counter',
  provider: 'example',
  contextWindow: 32_000,
  supports: { images: false, tools: true, pdf: false },
  async *stream({ history }) {
    const results = history.at(-1).parts.flatMap((part) => part.functionResponse ?? []);
    if (results.length === 0) {
      const call = { id: 'look', name: 'glob', args: { pattern: '*' } };
      yield { type: 'call', call };
      yield finish('calls', { functionCall: call });
    } else {
      const text = `The tool said: ${JSON.stringify(results[0].response)}`;
      yield { type: 'text-delta', text };
      yield finish('stop', { text });
    }
  },
};

function finish(reason, part) {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return { type: 'finish', reason, usage, message: { role: 'model', parts: [part] } };
}

const lathe = await createAgentLathe({ cwd: process.argv[2] ?? process.cwd(), env: process.env });
const agent = openAgent(lathe, { model, budgets: { turns: 5 } });
for await (const event of agent.prompt('What is here?', AbortSignal.timeout(60_000))) {
  if (event.type === 'call-end') console.log(`${event.outcome.name}: ${event.outcome.status}`);
  if (event.type === 'prompt-end') console.log(`${event.end.reason}: ${event.end.text}`);
}
await lathe.close();
