import { DiscoverySource } from '../discovery/discovery-source.js';
import type { LatheHome } from '../files/lathe-home.js';
import type { Workspace } from '../files/workspace.js';
import { createMcp } from '../mcp/create-mcp.js';
import type { McpSource } from '../mcp/mcp-source.js';
import type { ReverseRequests } from '../mcp/reverse-requests.js';
import { serverDefinitions, type UnusableServer } from '../mcp/server-definition.js';
import { TokenStore } from '../mcp/token-store.js';
import { Consent } from '../policy/consent.js';
import { DefinitionPins } from '../policy/definition-pins.js';
import { childEnvironment, unattendedVariables } from '../process/environment.js';
import { CommandRunner } from '../process/run-command.js';
import { ConsentGate } from '../scheduler/ask-consent.js';
import type { Approver } from '../scheduler/call.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { ToolRegistry, ToolSource } from '../tools/tool-registry.js';

export interface ToolSourceOptions {
  workspace: Workspace;
  loaded: LoadedSettings;
  home: LatheHome;
  userHome: string;
  approver: Approver;
  /** The person trusts the folder for this run, its commands and servers included: nothing is asked. */
  isConsented: boolean;
  registry: ToolRegistry;
  /** Answers what servers ask. */
  handlers: ReverseRequests | undefined;
}

/** Where tools come from besides the built-in ones. */
export interface ToolSources {
  all: readonly ToolSource[];
  servers: readonly McpSource[];
  /** Servers that cannot be used as they are configured. */
  unusable: readonly UnusableServer[];
  /** The source that a tool of this name would come from. */
  labelFor(name: string): string;
  close(): Promise<void>;
}

/** The sources that the settings name; none of them is started yet. */
export function toolSources(options: ToolSourceOptions): ToolSources {
  const { servers, unusable } = mcpSources(options);
  const discovery = discoverySource(options);
  return {
    all: [...discovery, ...servers],
    servers,
    unusable,
    labelFor: (name) => {
      const alias = name.split('__', 1)[0];
      return servers.find(({ client }) => client.definition.alias === alias)?.label ?? DiscoverySource.label;
    },
    close: async () => {
      await Promise.all(servers.map(({ client }) => client.close()));
    },
  };
}

function mcpSources(options: ToolSourceOptions): { servers: McpSource[]; unusable: UnusableServer[] } {
  const { workspace, loaded, home, userHome, registry, isConsented, approver } = options;
  const { servers, unusable } = serverDefinitions(loaded, {
    root: workspace.root,
    home: userHome,
    reserved: new Set(registry.getAllTools().map(({ name }) => name)),
  });
  const sources = createMcp({
    servers,
    root: workspace.root,
    roots: workspace.roots,
    runner: new CommandRunner(home),
    env: childEnvironment(loaded.env),
    pins: new DefinitionPins(home),
    tokens: new TokenStore(home),
    ...(!isConsented && { gate: new ConsentGate(new Consent(home), approver) }),
    ...(options.handlers && { handlers: options.handlers }),
    onTools: (label, tools) => registry.replaceTools(label, tools),
  });
  return { servers: sources, unusable };
}

/** Only in a trusted folder: even a command of the person's own would run the folder's files. */
function discoverySource(options: ToolSourceOptions): ToolSource[] {
  const { workspace, loaded, home, userHome, approver, isConsented } = options;
  const { toolDiscoveryCommand, toolCallCommand } = loaded.settings.tools;
  if (toolDiscoveryCommand === undefined || !loaded.isTrusted) return [];
  const keys = ['tools.toolDiscoveryCommand', 'tools.toolCallCommand'];
  const isProjects = keys.some((key) => loaded.origins.get(key)?.at(-1)?.layer === 'workspace');
  return [
    new DiscoverySource({
      discoveryCommand: toolDiscoveryCommand,
      callCommand: toolCallCommand,
      runner: new CommandRunner(home),
      cwd: workspace.root,
      env: childEnvironment(loaded.env, { set: unattendedVariables }),
      home: userHome,
      pins: new DefinitionPins(home),
      ...(isProjects && !isConsented && { gate: new ConsentGate(new Consent(home), approver) }),
    }),
  ];
}
