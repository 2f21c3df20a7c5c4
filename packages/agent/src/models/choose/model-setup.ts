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
  { wanted, server, env }: { wanted: string | undefined; server: string; env: object },
): ModelSetup {
  const ollama = {
    title: 'A model on this machine (in another terminal: OLLAMA_CONTEXT_LENGTH=32768 ollama serve)',
    commands: [`ollama pull ${(server === 'ollama' && wanted) || 'qwen3-coder'}`, 'lathe'],
  };
  const found = servers.map((each) => ({ ...each, models: each.models.map(({ name }) => name) }));
  return {
    problem: server === 'local' ? problemOf(servers, wanted) : problemOfServer(servers, server, wanted),
    found,
    ways: [
      ollama,
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

function problemOfServer(servers: LocalServer[], name: string, wanted: string | undefined): string {
  if (!servers.some(({ server }) => server === name)) return `${name} does not run on this machine.`;
  return `${name} on this machine does not offer ${wanted ?? 'a model'}.`;
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
