import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { Visibility } from '../files/access/visibility.js';
import type { FoundServer } from '../languages/find-server.js';
import type { Language } from '../languages/known-languages.js';
import type { LanguageServers, LanguageStatus } from '../languages/language-servers.js';
import { Consent } from '../policy/consent.js';
import type { Policy } from '../policy/policy.js';
import { childEnvironment, unattendedVariables } from '../process/run/environment.js';
import { CommandRunner } from '../process/run/run-command.js';
import { sanitizePath } from '../process/run/trusted-path.js';
import type { Sandbox } from '../process/sandbox/sandbox.js';
import { denyAll } from '../scheduler/approve.js';
import { ConsentGate, type ConsentRequest } from '../scheduler/ask-consent.js';
import type { ChangeChecks } from '../tools/file-change-tool.js';
import type { ToolSource } from '../tools/tool-registry.js';
import type { OpenedParts } from './extension.js';

export interface LanguageOptions extends Pick<OpenedParts, 'workspace' | 'project' | 'loaded' | 'home'> {
  sandbox: Sandbox;
  policy: Pick<Policy, 'mode'>;
  visibility: Visibility;
  /** The person trusts the folder for this run, its servers included. */
  isTrusted: boolean;
}

/** The language servers of the session, for those who use them. */
export interface Languages {
  /** Looks for new problems after a change. */
  checks: ChangeChecks;
  /** Brings the tool that navigates, where a server is there. */
  source: ToolSource;
  /** Starts the servers of the project's languages and says how they are. */
  status(): Promise<LanguageStatus[]>;
  /** The servers that settings of the project name and a person has to agree to. */
  consents(): ConsentRequest[];
  close(): Promise<void>;
}

/** A server may use as much memory as this, per process, unless the settings say less. */
const usualMemoryMb = 4_096;

/** Nothing is loaded, looked for or started before the first change of a file. */
export function openLanguages(options: LanguageOptions): Languages {
  let opened: Promise<LanguageServers> | undefined;
  const open = () => (opened ??= openServers(options));
  return {
    checks: {
      begin: (change) => {
        const check = open().then((servers) => servers.begin(change));
        return {
          report: async (signal) => (await check)?.report(signal) ?? '',
          cancel: () => void check.then((begun) => begun?.cancel()),
        };
      },
    },
    source: { label: 'language servers', discover: async () => navigationTools(await open()) },
    status: async () => (await open()).status(),
    consents: () => ownLanguages(options).map((language) => consentFor(language, options)),
    close: async () => (await opened)?.close(),
  };
}

async function openServers(options: LanguageOptions): Promise<LanguageServers> {
  const { workspace, loaded, visibility, home, sandbox, policy } = options;
  const { LanguageServers: Servers } = await import('../languages/language-servers.js');
  const { roots } = workspace;
  const path = await sanitizePath(loaded.env['PATH'] ?? '', roots);
  const runner = new CommandRunner(home);
  // Asked in a trusted folder only: elsewhere it decides nothing, and it starts a program.
  const hasSandbox = loaded.isTrusted && (await sandbox.status()).kind !== 'none';
  return new Servers({
    workspace,
    settings: loaded.settings.languages,
    visibility,
    places: { roots, path, isTrusted: loaded.isTrusted, isContained: () => hasSandbox || policy.mode === 'yolo' },
    // Servers start helpers, such as `node`, by name: in a folder that nobody trusts, never those of the folder.
    start: (found, language) => startServer(found, language, runner, options, loaded.isTrusted ? {} : { PATH: path }),
  });
}

async function navigationTools(servers: LanguageServers) {
  if (!servers.isAvailable()) return [];
  const { CodeNavigationTool } = await import('../languages/code-navigation.js');
  return [new CodeNavigationTool(servers)];
}

/** As commands run: in the sandbox if it is on, without the network, and able to write only where it must. */
async function startServer(
  found: FoundServer,
  { name }: Language,
  runner: CommandRunner,
  options: LanguageOptions,
  variables: Readonly<Record<string, string>>,
) {
  const { workspace, loaded, home, sandbox, isTrusted } = options;
  const own = ownLanguages(options).find((each) => each === name);
  if (own !== undefined && !isTrusted) {
    const gate = new ConsentGate(new Consent(home), denyAll);
    await gate.pass(consentFor(own, options), new AbortController().signal);
  }
  const { memoryMb } = loaded.settings.tools.sandbox.limits;
  const rights = { workspace: found.writes, network: false, home: false, files: false, secrets: false };
  // `node /opt/server/main.js`: the program is one of the arguments.
  const scripts = found.argv.slice(1).filter((argument) => isAbsolute(argument) && existsSync(argument));
  const reads = [found.installedIn, ...scripts.map((script) => dirname(script))];
  const wrap = await sandbox.prepare(workspace.root, rights, { isBackground: true, reads });
  return runner.startProgram({
    argv: found.argv,
    cwd: workspace.root,
    env: childEnvironment(loaded.env, { set: { ...unattendedVariables, ...variables } }),
    limits: { processes: -1, fileMb: -1, memoryMb: memoryMb < 0 ? usualMemoryMb : memoryMb },
    ...(wrap && { wrap }),
  });
}

/** The languages whose server a settings file of the project names. */
function ownLanguages({ loaded: { settings, origins } }: LanguageOptions): string[] {
  return Object.keys(settings.languages).filter((name) => {
    const isProjects = origins.get(`languages.${name}`)?.at(-1)?.layer === 'workspace';
    return isProjects && settings.languages[name] !== false;
  });
}

function consentFor(name: string, { loaded, workspace, project }: LanguageOptions): ConsentRequest {
  const setting = loaded.settings.languages[name];
  const { command = '', args = [] } = setting === undefined || setting === false ? {} : setting;
  return {
    kind: 'language-server',
    id: JSON.stringify([project, name]),
    definition: { command, args },
    confirmation: {
      type: 'exec',
      title: `Let this project start the language server for ${JSON.stringify(name)}?`,
      command: [command, ...args].join(' '),
      rootCommand: command,
      directory: workspace.root,
    },
  };
}
