import { type AgentEvent, createAgentLathe, openAgent } from '@lathe/agent';
import type { Model } from '@lathe/agent/models';

/** Lets an agent work on a prompt in a directory and returns its answer, printing what it does meanwhile. */
export async function askAgent(prompt: string, model: Model, cwd: string, print = console.log): Promise<string> {
  const lathe = await createAgentLathe({ cwd, env: process.env });
  try {
    const agent = openAgent(lathe, { model, budgets: { turns: 20 } });
    let answer = '';
    for await (const event of agent.prompt(prompt, AbortSignal.timeout(60_000))) {
      const line = lineOf(event);
      if (line !== undefined) print(line);
      if (event.type === 'prompt-end') answer = event.end.text;
    }
    return answer;
  } finally {
    await lathe.close();
  }
}

function lineOf(event: AgentEvent): string | undefined {
  if (event.type === 'call-update' && event.status === 'executing') return `… ${event.description}`;
  if (event.type === 'call-end') return `${event.outcome.status}: ${event.outcome.name}`;
  return event.type === 'notice' ? event.message : undefined;
}
