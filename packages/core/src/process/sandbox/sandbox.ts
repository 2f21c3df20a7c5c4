import { openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { type HomeOptions, homePlaces, realHome } from '../../files/access/home-places.js';
import type { HomePlace } from '../../files/access/home-table.js';
import type { LatheHome } from '../../files/lathe-home.js';
import { CommandPorts, type OpenPort } from '../network/command-ports.js';
import { SessionNetwork } from '../network/session-network.js';
import type { Launch } from '../run/contained-program.js';
import type { RunningCommand } from '../run/running-command.js';
import { trustedPath } from '../run/trusted-path.js';
import { repositoryPlaces } from '../shell/git-repository.js';
import { type BubblewrapOptions, planBubblewrap } from './bubblewrap.js';
import { CommandGuard } from './command-guard.js';
import { privateFilesBelow, socketsBelow, someSocketsBelow } from './found-files.js';
import { GitIdentity } from './git-identity.js';
import { holdMounts, StartStatus } from './held-mounts.js';
import { holdPlaceholders, releasePlaceholders } from './placeholders.js';
import { makeSandboxFiles, type Probe, probeSandbox, type SandboxFiles } from './probe-sandbox.js';
import { PutAside } from './put-aside.js';
import { RestoredContents } from './restored-contents.js';
import type { SandboxRights } from './sandbox-rights.js';
import { seatbeltArguments } from './seatbelt.js';
import { SessionDirectory } from './session-directory.js';
import { planSteadily, Snapshots, untilSteady } from './snapshots.js';
import { planView, programDirectories } from './visible-files.js';

export type SandboxMode = 'auto' | 'required' | 'off';

export interface SandboxOptions {
  mode: SandboxMode;
  /** The workspace's directories, as real paths. */
  roots: readonly string[];
  /** Files of the workspace that no command may change, besides those with protected names. */
  protectedFiles?: readonly string[];
  /** Names of files at the top of the workspace that the agent obeys. */
  obeyed?: readonly string[];
  /** Real paths outside the workspace that every command may read. */
  readable?: readonly string[];
  latheHome: LatheHome;
  /** The user's home directory, of which commands see toolchains only. */
  userHome: string;
  /** The `PATH` to find the sandbox program in; programs inside the workspace are never used. */
  path?: string;
  /** Variables that tell where toolchains are. */
  env?: Readonly<Record<string, string | undefined>>;
  /** What the commands of this session share; its own when left out. */
  session?: SessionDirectory;
  platform?: NodeJS.Platform;
}

/** For the status line. */
export interface SandboxStatus {
  kind: Probe['kind'];
  /** One sentence for the user. */
  text: string;
}

/** What differs from command to command. */
export interface PrepareOptions {
  /** The command outlives Lathe. */
  isKept?: boolean;
  /** It runs beside other work, so it cannot write to `.git`. */
  isBackground?: boolean;
  /** Real paths outside the workspace that were approved for this command. */
  reads?: readonly string[];
}

type CommandDetails = Pick<
  BubblewrapOptions,
  | 'cwd'
  | 'rights'
  | 'isKept'
  | 'isGitFixed'
  | 'empty'
  | 'sockets'
  | 'reads'
  | 'repositories'
  | 'privateFiles'
  | 'homeFiles'
> & { filter?: string; run: string; isServer: boolean };

/**
 * The operating system's sandbox. It is probed and its files are written once per session, which saves the start of
 * another bubblewrap per command: `npm run bench -- --no-peers --only 'shell: run echo'`.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #snapshots = new Snapshots();
  readonly #aside: PutAside;
  readonly #restored: RestoredContents;
  readonly #session: SessionDirectory;
  readonly #home: { spelled: string; real: string };
  readonly #env: HomeOptions['env'];
  readonly #git: GitIdentity;
  #homePlaces: readonly HomePlace[] | undefined;
  #probe: Promise<Probe> | undefined;
  #files: Promise<SandboxFiles> | undefined;
  #programSockets: Promise<string[]> | undefined;
  #privateFiles: Promise<string[]> | undefined;
  #network: SessionNetwork | undefined;
  /** Why the ports of background commands cannot be reached. */
  #unreachable = 'only bubblewrap can share the network of the sandbox';

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { latheHome, userHome: spelled, roots, path } = options;
    this.#aside = new PutAside(latheHome.file('put-aside'));
    this.#restored = new RestoredContents(latheHome.file('restored'));
    this.#session = options.session ?? new SessionDirectory(latheHome);
    this.#env = { ...options.env, ...(path !== undefined && { PATH: path }) };
    const home = realHome(spelled);
    this.#home = { spelled, real: home };
    this.#git = new GitIdentity({ home, roots, env: this.#env, file: this.#session.file('gitconfig') });
  }

  /** Found when a command first needs them: many tasks run none. */
  get #places(): readonly HomePlace[] {
    this.#homePlaces ??= homePlaces({ home: this.#home.real, env: this.#env, roots: this.#options.roots });
    return this.#homePlaces;
  }

  /** Whether commands cannot see a path unless a right opens it. */
  hides(path: string): boolean {
    const none = { reads: [], repositories: [], files: [], hasNetwork: false, session: undefined };
    return planView({ home: this.#home, places: this.#places, roots: this.#options.roots, ...none }).isHidden(path);
  }

  /** Removes what the commands of the session shared. */
  close(): Promise<void> {
    this.#network?.close();
    return this.#session.close();
  }

  /** Whether commands without network access reach the servers of background commands. */
  get hasServers(): boolean {
    return this.#network?.isOpen ?? false;
  }

  /**
   * Lets programs of this machine reach the ports of a background command that has no network; a sentence says why if
   * that is not possible.
   */
  openPorts(
    { mark, pid, result }: RunningCommand,
    rights: SandboxRights,
    onOpen?: (port: OpenPort) => void,
  ): CommandPorts | string {
    if (!sharesNetwork(rights)) return 'it has rights that other commands do not have';
    if (this.#network === undefined || !this.#network.isOpen) return this.#unreachable;
    const ports = new CommandPorts(this.#network, () => mark.processes(pid), onOpen);
    void result.then(() => ports.close());
    return ports;
  }

  async status(): Promise<SandboxStatus> {
    if (this.#options.mode === 'off') return { kind: 'none', text: 'Sandbox: off' };
    const { kind, reason } = await this.#probed();
    if (kind !== 'none') return { kind, text: `Sandbox: ${kind}` };
    const outcome = this.#options.mode === 'required' ? 'commands are refused' : 'commands run without one';
    return { kind, text: `Sandbox: not available, ${outcome} (${reason ?? 'unknown reason'})` };
  }

  /**
   * Returns what wraps a command in the sandbox; `undefined` without a sandbox. Throws if one is required and missing. In
   * the background all of `.git` is read-only, so that the user's own work with git does not end the command.
   */
  async prepare(
    cwd: string,
    rights: SandboxRights,
    { isKept = false, isBackground = false, reads = [] }: PrepareOptions = {},
  ): Promise<((argv: readonly string[]) => Launch) | undefined> {
    if (this.#options.mode === 'off') return undefined;
    const found = await this.#probed();
    if (found.kind === 'none') {
      if (this.#options.mode === 'auto') return undefined;
      throw new ToolError('sandbox_unavailable', `The sandbox is required, but ${found.reason ?? 'it cannot start'}.`);
    }
    if (found.kind === 'seatbelt') return this.#seatbelt(found, rights, reads);
    const isServer = isBackground && !isKept && sharesNetwork(rights);
    if (isServer) await this.#openNetwork(found);
    const given = { cwd, rights, isKept, isGitFixed: isKept || isBackground, reads };
    return this.#prepareBubblewrap(found, { ...given, isServer });
  }

  #seatbelt({ program }: Probe, rights: SandboxRights, reads: readonly string[]): (argv: readonly string[]) => Launch {
    const { roots, latheHome, readable = [], protectedFiles = [], obeyed = [] } = this.#options;
    const view = { home: this.#home.real, places: this.#places, reads: [...reads, ...readable] };
    const fixed = [...protectedFiles, ...roots.flatMap((root) => obeyed.map((name) => join(root, name)))];
    const args = seatbeltArguments({ roots, ...view, hidden: [latheHome.path], fixed, rights });
    return (argv) => ({ argv: [program, ...args, ...argv] });
  }

  async #openNetwork({ program: bubblewrap, hasUserNamespace }: Probe): Promise<void> {
    const { roots: outside, path = '' } = this.#options;
    const nsenter = trustedPath('nsenter', { outside, path });
    this.#network ??= new SessionNetwork({ bubblewrap, hasUserNamespace, nsenter });
    this.#unreachable = (await this.#network.open()) ?? 'the network of the sandbox was closed';
  }

  async #prepareBubblewrap(
    found: Probe,
    given: Pick<CommandDetails, 'cwd' | 'rights' | 'isKept' | 'isGitFixed' | 'reads' | 'isServer'>,
  ): Promise<(argv: readonly string[]) => Launch> {
    const { rights } = given;
    if (rights.workspace && found.hasUserNamespace) refuseForeignWorkspace(this.#options.roots);
    this.#files ??= makeSandboxFiles(this.#options.latheHome);
    await this.#session.open();
    const files = await this.#files;
    const homeFiles = await this.#git.files();
    // A command that only reads needs no sockets, so they are not searched.
    const { roots, path = '' } = this.#options;
    const repositories = (await Promise.all(roots.map((root) => repositoryPlaces(root, this.#home.real)))).flat();
    const sockets = rights.workspace ? await socketsBelow([...roots, ...repositories], path) : undefined;
    this.#programSockets ??= someSocketsBelow(programDirectories, path);
    this.#privateFiles ??= privateFilesBelow('/etc', path);
    const filter = files.filters?.[sockets === undefined ? 'withoutSockets' : 'withSockets'];
    const details = {
      ...given,
      homeFiles,
      repositories,
      privateFiles: await this.#privateFiles,
      empty: files.empty,
      run: files.run,
      sockets: [...(sockets ?? []), ...(await this.#programSockets)],
    };
    await untilSteady(roots, this.#snapshots);
    return (argv) => this.#bubblewrap(found, argv, { ...details, ...(filter && { filter }) });
  }

  #probed(): Promise<Probe> {
    this.#probe ??= probeSandbox(this.#options);
    return this.#probe;
  }

  #bubblewrap(
    { program, hasUserNamespace, holdsMounts }: Probe,
    argv: readonly string[],
    { filter, run, isServer, ...details }: CommandDetails,
  ): Launch {
    // A command that outlives Lathe has a network of its own.
    const entry = sharesNetwork(details.rights) && !details.isKept ? this.#network?.entry() : undefined;
    const options = {
      ...details,
      roots: this.#options.roots,
      protectedFiles: this.#options.protectedFiles ?? [],
      obeyed: this.#options.obeyed ?? [],
      readable: this.#options.readable ?? [],
      home: this.#home,
      places: this.#places,
      session: this.#session,
      // Nothing can be mounted below a symlink, such as a home directory that is one.
      hidden: [realHome(this.#options.latheHome.path)],
      hasUserNamespace,
      isNetworkShared: entry !== undefined,
    };
    const makePlan = () => planSteadily(() => planBubblewrap(options), this.#snapshots);
    // The first descriptors that a program inherits after stdin, stdout and stderr are for the status and the filter.
    const filters = filter === undefined ? [] : [filter];
    const plan = holdsMounts ? holdMounts(makePlan, 4 + filters.length) : { ...makePlan(), descriptors: [] };
    const leave = isServer && entry !== undefined ? this.#network?.use() : undefined;
    const status = new StartStatus(run);
    const inherited = ['--json-status-fd', '3', ...filters.flatMap(() => ['--seccomp', '4'])];
    const held = holdPlaceholders(plan.guarded.reserved, details);
    const searchPath = this.#options.path ?? '';
    const tools = { snapshots: this.#snapshots, aside: this.#aside, restored: this.#restored, searchPath };
    const guard = new CommandGuard(plan.guarded, tools);
    return {
      argv: [...(entry ?? []), program, ...plan.arguments, ...inherited, ...plan.mounts.flat(), '--', ...argv],
      descriptors: [status.writer, ...filters.map((file) => openSync(file, 'r')), ...plan.descriptors],
      placeholders: held,
      watch: (onLost) => guard.start(onLost),
      hasStarted: () => status.hasStarted(),
      release: () => {
        leave?.();
        status.close();
        return guard.check().finally(() => releasePlaceholders(held));
      },
    };
  }
}

/** A command that may do more must not be within reach of those that may not. */
function sharesNetwork({ network, home, files, secrets }: SandboxRights): boolean {
  return !network && !home && !files && !secrets;
}

/** Inside a user namespace root has no rights over the files of others, so that every write would fail. */
function refuseForeignWorkspace(roots: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  for (const root of roots) {
    const info = statSync(root, { throwIfNoEntry: false });
    if (info === undefined || info.uid === 0 || (info.mode & 0o002) !== 0) continue;
    const message = `The sandbox cannot write in ${root}: it belongs to the user with the id ${info.uid}, and root has no rights over it inside. Run Lathe as that user, or with --sandbox off.`;
    throw new ToolError('sandbox_unavailable', message);
  }
}
