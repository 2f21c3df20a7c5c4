import { type AgentEvent, type AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { type McpSource, type ServerPrompt } from '@lathe/core/mcp';
import { ServerLists } from '../mcp/server-lists.js';
import type { SlashCommand, SlashContext } from './slash-command.js';

/** The prompts of the MCP servers as `/server:prompt`. */
export function promptCommands(
  lathe: Pick<AgentLathe, 'tools' | 'sources'>,
  signal: AbortSignal,
): ServerLists<SlashCommand> {
  return new ServerLists(lathe, 'prompts', async (source) =>
    (await source.prompts(signal)).map((prompt) => promptCommand(source, prompt)),
  );
}

function promptCommand(source: McpSource, { name, title, description, parameters }: ServerPrompt): SlashCommand {
  const server = source.client.serverName;
  async function* stream(argument: string, { lathe, driver, signal }: SlashContext): AsyncGenerator<AgentEvent> {
    const args = readArguments(argument, parameters);
    const missing = parameters.filter((each) => each.isRequired && args[each.name] === undefined);
    if (missing.length > 0) {
      const names = missing.map((each) => visibleText(each.name)).join(', ');
      yield { type: 'notice', level: 'warning', message: `/${server}:${name} needs more arguments: ${names}` };
      return;
    }
    const parts = await source.getPrompt(name, args, signal);
    if (source.brings) lathe.exposure?.note(source.brings);
    // What the person typed comes first, so that nothing else counts as their words.
    yield* driver.prompt([`/${server}:${name} ${argument}`.trim() + '\n\n', ...parts], signal);
  }
  return {
    name: `${server}:${name}`.replace(/\s+/g, '_'),
    summary: (description || title).split('\n')[0] ?? '',
    origin: source.label,
    arguments: () => parameters.map((each) => `${each.name}=`),
    stream,
  };
}

/** `name=value` pairs, or values in the order of the parameters; the last one takes the rest of the text. */
export function readArguments(text: string, parameters: ServerPrompt['parameters']): Record<string, string> {
  const names = new Set(parameters.map(({ name }) => name));
  const pairs = [...text.matchAll(/([^\s=]+)=(?:"([^"]*)"|(\S+))/g)].filter(([, name = '']) => names.has(name));
  if (pairs.length > 0)
    return Object.fromEntries(pairs.map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain]));
  const words = text.split(/\s+/).filter((word) => word !== '');
  const last = parameters.length - 1;
  const values = parameters.map(({ name }, index) => [name, index < last ? words[index] : words.slice(last).join(' ')]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== ''));
}

/** `/mcp` shows the state and tools of every server, and how to fix a failure. */
export function showServers({
  lathe,
  print,
}: {
  lathe: Pick<AgentLathe, 'sources' | 'tools'>;
  print: (text: string) => void;
}): void {
  const { servers, unusable } = lathe.sources;
  if (servers.length + unusable.length === 0)
    return print('  No MCP servers. Add one with: lathe mcp add <name> <command|url>');
  const entries = lathe.tools.entries();
  const lines = servers.flatMap((source) => {
    const tools = entries.filter((entry) => entry.source === source.label).map(({ tool }) => tool.name);
    const skipped = source.rejections().map(({ name, reason }) => `    skipped: ${name} (${reason})`);
    return [
      `  ${source.client.serverName}: ${stateOf(source)}`,
      ...(tools.length > 0 ? [`    ${tools.length} tools: ${tools.join(', ')}`] : []),
      ...skipped,
    ];
  });
  return print(
    [...lines, ...unusable.map(({ name, problem }) => `  ${name}: cannot be used: ${problem}`)]
      .map((line) => visibleText(line))
      .join('\n'),
  );
}

function stateOf({ client: { state, serverName } }: McpSource): string {
  switch (state.status) {
    case 'ready':
      return `${state.server}, protocol ${state.protocolVersion}, ${state.latencyMs} ms`;
    case 'failed': {
      const needsLogin = /unauthori[sz]ed|\b401\b|log ?in/i.test(state.reason);
      return `failed: ${state.reason}${needsLogin ? `\n    lathe mcp auth ${serverName}    to log in` : ''}`;
    }
    case 'idle':
      return 'not started';
    case 'connecting':
    case 'closed':
      return state.status;
  }
}
