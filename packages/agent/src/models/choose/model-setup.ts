import type { LocalServer } from './local.js';
import { providers } from './providers.js';

/** How to get a model, as data: front ends show it, `--json` prints it. */
export interface ModelSetup {
  problem: string;
  /** Servers that answered on this machine, and what they offer. */
  found: { server: string; url: string; models: string[] }[];
  ways: { title: string; commands: string[] }[];
}

export function modelSetup(
  servers: LocalServer[],
  { wanted, env }: { wanted: string | undefined; env: object },
): ModelSetup {
  const found = servers.map(({ server, url, models }) => ({ server, url, models: models.map(({ name }) => name) }));
  return {
    problem: problemOf(servers, wanted),
    found,
    ways: [
      {
        title: 'A model on this machine, with Ollama',
        commands: ['ollama pull qwen3-coder', 'OLLAMA_CONTEXT_LENGTH=32768 ollama serve', 'lathe'],
      },
      ...providers.map(({ name, keyVariables: [variable], defaultModel }) => ({
        title: `A hosted model: ${name}${variable in env ? ' (its variable is set, but empty)' : ''}`,
        commands: [`export ${variable}=…`, `lathe --model ${name}/${defaultModel}`],
      })),
      {
        title: 'Any other OpenAI-compatible server',
        commands: ['export OPENAI_BASE_URL=http://host:port/v1', 'export OPENAI_MODEL=name', 'lathe'],
      },
    ],
  };
}

function problemOf(servers: LocalServer[], wanted: string | undefined): string {
  if (wanted) return `No key is set for ${wanted}, and no server on this machine offers it.`;
  if (servers.length === 0) return 'No model is configured, and none runs on this machine.';
  return `No model is configured, and ${servers.map(({ server }) => server).join(', ')} on this machine has none to offer.`;
}

/** The same as plain text. */
export function formatModelSetup({ problem, found, ways }: ModelSetup): string {
  const lines = [problem, ''];
  for (const { server, url, models } of found)
    lines.push(`Found ${server} at ${url}: ${models.join(', ') || 'no models'}`, '');
  for (const { title, commands } of ways) lines.push(title, ...commands.map((command) => `  ${command}`), '');
  return lines.join('\n').trimEnd();
}
