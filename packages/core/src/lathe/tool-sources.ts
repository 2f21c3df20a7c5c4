import { DiscoverySource } from '../discovery/discovery-source.js';
import type { LatheHome } from '../files/lathe-home.js';
import type { Workspace } from '../files/workspace.js';
import { Consent } from '../policy/consent.js';
import { DefinitionPins } from '../policy/definition-pins.js';
import { childEnvironment, unattendedVariables } from '../process/environment.js';
import { CommandRunner } from '../process/run-command.js';
import { ConsentGate } from '../scheduler/ask-consent.js';
import type { Approver } from '../scheduler/call.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { ToolSource } from '../tools/tool-registry.js';

export interface ToolSourceOptions {
  workspace: Workspace;
  loaded: LoadedSettings;
  home: LatheHome;
  userHome: string;
  approver: Approver;
  /** The person trusts the folder for this run, its commands and servers included: nothing is asked. */
  isConsented: boolean;
}

/** Where tools come from besides the built-in ones. */
export interface ToolSources {
  all: readonly ToolSource[];
  /** The source that a tool of this name would come from. */
  labelFor(name: string): string;
  close(): Promise<void>;
}

/** The sources that the settings name; none of them is started yet. */
export function toolSources(options: ToolSourceOptions): ToolSources {
  return {
    all: discoverySource(options),
    labelFor: () => 'discovery command',
    close: async () => {},
  };
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
