import { type AgentLathe } from '@lathe/agent';
import { NotTrusted } from '@lathe/core/host';
import type { McpSource } from '@lathe/core/mcp';
import { errorMessage } from '../command-line/error-message.js';
import type { Io } from '../command-line/io.js';
import type { Finding } from './finding.js';

/** Connects to every server and runs the discovery command, in parallel. */
export async function sources(
  {
    tools: registry,
    sources: { servers },
    skills,
    plugins,
  }: Pick<AgentLathe, 'tools' | 'sources' | 'skills' | 'plugins'>,
  _io: Io,
  signal: AbortSignal,
): Promise<Finding[]> {
  const failures = await registry.discover(signal);
  const others = [...failures].filter(([label]) => !servers.some((server) => server.label === label));
  const named = skills.skills.map(({ name }) => name);
  return [
    ...(named.length > 0 ? [{ state: 'ok' as const, title: 'skills', detail: named.join(', ') }] : []),
    ...(plugins.length > 0
      ? [{ state: 'ok' as const, title: 'plugins', detail: plugins.map(({ name }) => name).join(', ') }]
      : []),
    ...servers.map((server) => serverFinding(server, failures.get(server.label), toolCount(registry, server.label))),
    ...others.map(
      ([title, error]): Finding => ({
        state: error instanceof NotTrusted ? 'note' : 'bad',
        title,
        detail: errorMessage(error),
      }),
    ),
  ];
}

function serverFinding({ label, client }: McpSource, failure: unknown, count: number): Finding {
  const { state } = client;
  if (failure === undefined && state.status === 'ready')
    return {
      state: 'ok',
      title: label,
      detail: `${state.server}, protocol ${state.protocolVersion}, connected in ${state.latencyMs} ms, ${count} tools`,
    };
  return {
    state: 'bad',
    title: label,
    detail: failure === undefined ? state.status : errorMessage(failure),
    hint: `lathe mcp test ${client.definition.name}    to test it alone`,
  };
}

function toolCount(registry: AgentLathe['tools'], label: string): number {
  return registry.entries().filter(({ source }) => source === label).length;
}
