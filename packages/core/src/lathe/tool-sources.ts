import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Approver } from '../contract/call.js';
import { DiscoverySource } from '../discovery/discovery-source.js';
import { ToolFiles } from '../discovery/tool-files.js';
import { TokenStore } from '../mcp/auth/token-store.js';
import { createMcp } from '../mcp/client/create-mcp.js';
import { KnownTools } from '../mcp/client/known-tools.js';
import type { McpSource } from '../mcp/client/mcp-source.js';
import type { ReverseRequests } from '../mcp/client/reverse-requests.js';
import { serverConsent } from '../mcp/client/server-consent.js';
import { isSelected, serverDefinitions, type UnusableServer } from '../mcp/client/server-definition.js';
import { Consent } from '../policy/consent.js';
import { DefinitionPins } from '../policy/definition-pins.js';
import { childEnvironment, unattendedVariables } from '../process/run/environment.js';
import { CommandRunner } from '../process/run/run-command.js';
import type { Sandbox } from '../process/sandbox/sandbox.js';
import { ConsentGate, type ConsentRequest } from '../scheduler/ask-consent.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import { NotTrusted, type ToolRegistry, type ToolSource } from '../tools/tool-registry.js';
import type { Extension, OpenedParts } from './extension.js';
import type { Languages } from './open-languages.js';

export interface ToolSourceOptions extends OpenedParts {
  approver: Approver;
  /** The person trusts the folder for this run, its commands and servers included: nothing is asked. */
  isTrusted?: boolean;
  registry: ToolRegistry;
  /** Around servers too, when it is required. */
  sandbox: Sandbox;
  /** Brings the tool that navigates in code. */
  languages: Pick<Languages, 'source' | 'consents'>;
  /** Answers what servers ask. */
  handlers?: ReverseRequests;
  /** Sources of the program that drives the tools. */
  extension: Pick<Extension, 'openSources'>;
  /** Brings a person to a page where they log in to a server. */
  openPage?: (url: URL) => Promise<void>;
}

/** What went wrong at the start of a session, by source. */
export interface Preparation {
  failures: Map<string, unknown>;
  later: Promise<Map<string, unknown>>;
}

/** Where tools come from besides the built-in ones. */
export interface ToolSources {
  servers: readonly McpSource[];
  /** Servers that cannot be used as they are configured, or because the folder is not trusted. */
  unusable: readonly UnusableServer[];
  /** What the project wants to start and a person has to agree to. */
  consents(): ConsentRequest[];
  /** Looks for tools; with a name, only where a tool of that name could be. Returns what went wrong, by source. */
  discover: (signal?: AbortSignal, name?: string) => Promise<Map<string, unknown>>;
  /**
   * Looks for tools at the start of a session: like `discover`, but servers whose tools are known from an earlier session
   * start in the background. `later` resolves to what went wrong with those.
   */
  prepare: (signal: AbortSignal) => Promise<Preparation>;
  close(): Promise<void>;
}

/** Gives the registry the sources that the settings name; none of them is started yet. */
export function toolSources(options: ToolSourceOptions): ToolSources {
  const knownTools = new KnownTools(options.home);
  let isClosed = false;
  const { servers, unusable } = mcpSources(options, knownTools);
  const discovery = discoverySource(options);
  const { own, project, plugins } = toolFiles(options);
  const added = addedSources(options);
  const untrusted = untrustedSources(options.loaded);
  const notStarted = new NotTrusted('An MCP server of this folder was not started');
  const others: ToolSource[] = [
    ...discovery.map(({ source }) => source),
    ...own,
    ...project,
    ...plugins,
    ...added,
    options.languages.source,
    ...(untrusted.command === undefined
      ? []
      : [failingSource(DiscoverySource.label, new NotTrusted(`${untrusted.command} was not run`))]),
    ...unusable.map(({ name, problem }) => failingSource(`MCP server ${name}`, new Error(problem))),
    ...untrusted.servers.map((name) => failingSource(`MCP server ${name}`, notStarted)),
  ];
  for (const source of [...others, ...servers]) options.registry.addSource(source);
  return {
    servers,
    unusable: [...unusable, ...untrusted.servers.map((name) => ({ name, problem: notStarted.message }))],
    consents: () => [
      ...discovery.filter(({ isProjects }) => isProjects).flatMap(({ source }) => source.consentRequests()),
      ...[...project, ...plugins, ...added].flatMap((source) => source.consentRequests()),
      ...options.languages.consents(),
      ...servers
        .filter(({ client: { definition } }) => (definition.isProjects && !definition.isClients) || definition.plugin)
        .map(({ client }) => serverConsent(client.definition, options.project)),
    ],
    discover: async (signal = new AbortController().signal, name) => {
      if (name === undefined) return options.registry.discover(signal);
      if (options.registry.getTool(name)) return new Map();
      const alias = name.split('__', 1)[0];
      const server = servers.find(({ client }) => client.definition.alias === alias);
      const labels = (server ? [server] : others).map(({ label }) => label);
      return labels.length > 0 ? options.registry.discover(signal, ...labels) : new Map();
    },
    prepare: async (signal) => {
      const known = await options.registry.registerKnown();
      const discover = (isMeant: (label: string) => boolean) => {
        const labels = [...others, ...servers].map(({ label }) => label).filter(isMeant);
        return labels.length > 0 ? options.registry.discover(signal, ...labels) : Promise.resolve(new Map());
      };
      const later = startLater(signal, async () => (isClosed ? new Map() : discover((label) => known.includes(label))));
      const failures = await discover((label) => !known.includes(label));
      // A session that ends early stops its servers; that is not a failure.
      return { failures, later: later.then((late) => (isClosed ? new Map() : late)) };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...servers.map(({ client }) => client.close()), knownTools.saved()]);
    },
  };
}

/**
 * Lets the first request of a session go out before servers start, which takes the processor: with ten servers that are known,
 * it goes out in half the time (`npm run bench -- --only 'agent: from the start to'`). A call of a tool does not wait.
 */
async function startLater<T>(signal: AbortSignal, start: () => Promise<Map<string, T>>): Promise<Map<string, T>> {
  await wait(headStartMs, undefined, { signal, ref: false }).catch(() => undefined);
  return signal.aborted ? new Map() : start();
}

const headStartMs = 300;

function mcpSources(
  options: ToolSourceOptions,
  knownTools: KnownTools,
): { servers: McpSource[]; unusable: UnusableServer[] } {
  const { workspace, project, loaded, home, userHome, registry, isTrusted, approver, sandbox } = options;
  const { mode, network } = loaded.settings.tools.sandbox;
  const { servers, unusable } = serverDefinitions(loaded, {
    root: workspace.root,
    home: userHome,
    reserved: new Set(registry.getAllTools().map(({ name }) => name)),
  });
  const gate = new ConsentGate(new Consent(home), approver);
  const sources = createMcp({
    servers,
    root: project,
    roots: workspace.roots,
    runner: new CommandRunner(home),
    env: childEnvironment(loaded.env),
    pins: new DefinitionPins(home),
    knownTools,
    tokens: new TokenStore(home),
    ...(mode === 'required' && {
      sandbox: (cwd) =>
        sandbox.prepare(
          cwd,
          { workspace: true, network, home: false, files: false, secrets: false },
          { isBackground: true },
        ),
    }),
    ...(!isTrusted && { gate }),
    pluginGate: gate,
    clientGate: gate,
    ...(options.handlers && { handlers: options.handlers }),
    ...(options.openPage && { openPage: options.openPage }),
    onTools: (label, tools) => registry.replaceTools(label, tools),
  });
  return { servers: sources, unusable };
}

/** The person's own need neither trust nor agreement. In the home folder both are the same, and are the person's own. */
function toolFiles({ workspace, loaded, home, approver, isTrusted, plugins, ...options }: ToolSourceOptions) {
  const gate = new ConsentGate(new Consent(home), approver);
  const own = { label: '~/.lathe/tools', folder: resolve(home.path, 'tools'), isTrusted: true, packagesIn: '/' };
  const project = {
    label: '.lathe/tools',
    folder: join(workspace.root, '.lathe', 'tools'),
    copyOf: join(options.project, '.lathe', 'tools'),
    packagesIn: join(workspace.root, '.lathe'),
    isTrusted: loaded.isTrusted,
    ...(!isTrusted && { gate }),
  };
  return {
    own: [new ToolFiles(own)],
    project: own.folder === project.folder ? [] : [new ToolFiles(project)],
    plugins: plugins.flatMap(({ name, root, tools, hash: pin }) => {
      if (tools === undefined) return [];
      const folder = join(root, tools);
      const plugin = { name, pin };
      return [new ToolFiles({ label: `plugin ${name}`, folder, packagesIn: root, isTrusted: true, plugin, gate })];
    }),
  };
}

function addedSources({ extension, home, approver, isTrusted = false }: ToolSourceOptions) {
  const gate = new ConsentGate(new Consent(home), approver);
  return extension.openSources?.({ gate: isTrusted ? undefined : gate }) ?? [];
}

/** Only in a trusted folder: even a command of the person's own would run the folder's files. */
function discoverySource(options: ToolSourceOptions): { source: DiscoverySource; isProjects: boolean }[] {
  const { workspace, project, loaded, home, userHome, approver, isTrusted } = options;
  const { toolDiscoveryCommand, toolCallCommand } = loaded.settings.tools;
  if (toolDiscoveryCommand === undefined || !loaded.isTrusted) return [];
  const keys = ['tools.toolDiscoveryCommand', 'tools.toolCallCommand'];
  const isProjects = keys.some((key) => loaded.origins.get(key)?.at(-1)?.layer === 'workspace');
  const source = new DiscoverySource({
    discoveryCommand: toolDiscoveryCommand,
    callCommand: toolCallCommand,
    runner: new CommandRunner(home),
    cwd: workspace.root,
    copyOf: project,
    env: childEnvironment(loaded.env, { set: unattendedVariables }),
    home: userHome,
    pins: new DefinitionPins(home),
    ...(isProjects && !isTrusted && { gate: new ConsentGate(new Consent(home), approver) }),
  });
  return [{ source, isProjects }];
}

/** The discovery command and the servers that wait for trust. A person's own server runs elsewhere, so it does not. */
function untrustedSources({ isTrusted, settings, ignored }: LoadedSettings): { command?: string; servers: string[] } {
  if (isTrusted) return { servers: [] };
  const wanted = ignored.filter(({ layer }) => layer === 'workspace');
  const isWanted = (key: string) => wanted.some((entry) => entry.key === key);
  const named = wanted.flatMap(({ key, written }) =>
    key === 'mcpServers' && typeof written === 'object' ? Object.keys(written ?? {}) : [],
  );
  const names = new Set(isWanted('mcp.mcpServerCommand') ? [...named, 'mcp'] : named);
  const isNew = (name: string) => !Object.hasOwn(settings.mcpServers, name) && isSelected(name, settings.mcp);
  const servers = [...names].filter(isNew);
  if (settings.tools.toolDiscoveryCommand !== undefined) return { command: 'Your discovery command', servers };
  return { servers, ...(isWanted('tools.toolDiscoveryCommand') && { command: 'A discovery command of this folder' }) };
}

/** A source that has no tools to give, so that each discovery says why. */
function failingSource(label: string, error: Error): ToolSource {
  return { label, discover: () => Promise.reject(error) };
}
