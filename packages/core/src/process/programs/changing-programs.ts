import { basename, isAbsolute } from 'node:path';
import { type Argument, knownArgument } from '../shell/expand-word.js';
import { forNames, nameSet } from './name-set.js';
import { type Effects, here, type Judge } from './read-arguments.js';

/** The files that a program reads and writes, and whether it uses the network, as far as its name and words tell. */
export function knownChanges(name: string, args: readonly Argument[]): Effects {
  const use = networkUse(name, { args, operands: operandsOf(args).map(({ value }) => value) });
  return { ...writers.get(name)?.(args), usesNetwork: use !== 'none', needsNetwork: use === 'needed' };
}

/** Whether it is known which of its operands a program reads. */
export const hasKnownReads = (name: string): boolean => writers.has(name);

const isOperand = ({ value }: Argument) => !value.startsWith('-') || value === '-';

function operandsOf(args: readonly Argument[]): Argument[] {
  const end = args.findIndex(({ value }) => value === '--');
  return end === -1 ? args.filter(isOperand) : [...args.slice(0, end).filter(isOperand), ...args.slice(end + 1)];
}

/** The values of a flag, attached or as the next word. */
function valuesOf(args: readonly Argument[], ...flags: string[]): Argument[] {
  return args.flatMap((argument, index) => {
    const next = args[index + 1];
    const flag = flags.find(
      (candidate) =>
        argument.value === candidate ||
        argument.value.startsWith(`${candidate}=`) ||
        (candidate.length === 2 && argument.value.startsWith(candidate)),
    );
    if (flag === undefined) return [];
    if (argument.value === flag) return next ? [next] : [];
    return [{ ...argument, value: argument.value.slice(flag.length).replace(/^=/, '') }];
  });
}

const writesAll: Judge = (args) => ({ writes: operandsOf(args) });
const writesAfterFirst: Judge = (args) => ({ writes: operandsOf(args).slice(1) });

/** `cp a b` writes its last operand, or a file of the same name in it. */
const places: Judge = (args) => {
  const given = valuesOf(args, '-t', '--target-directory');
  const operands = operandsOf(args).filter((operand) => !given.includes(operand));
  const sources = given.length > 0 ? operands : operands.slice(0, -1);
  const targets = given.length > 0 ? given : operands.slice(-1);
  const inside = targets.flatMap((target) =>
    sources.map((source) =>
      source.isKnown
        ? { ...target, value: `${target.value}/${basename(source.value)}` }
        : { ...target, ...(source.pattern && { names: source.pattern }) },
    ),
  );
  return { reads: sources, writes: [...targets, ...inside] };
};
/** The same for directories and everything below them. */
const copies: Judge = (args) => {
  const { reads = [], writes = [] } = places(args);
  return { reads, searches: reads, writes };
};
const moves: Judge = (args) => {
  const { reads = [], writes = [] } = places(args);
  return { reads, searches: reads, writes: [...reads, ...writes] };
};

/** A program that writes the files in the values of these flags. */
const writesValues =
  (...flags: string[]): Judge =>
  (args) => ({ writes: valuesOf(args, ...flags) });

/** A program that edits its files in place with one of these flags. */
const writesWith =
  (inPlace: RegExp): Judge =>
  (args) =>
    args.some(({ value }) => inPlace.test(value)) ? writesAll(args) : {};

/** A search tool with flags that are not known: it may read everything below its operands, or here. */
const searchesAll: Judge = (args) => {
  const operands = operandsOf(args).filter(({ isKnown, pattern }) => isKnown || pattern);
  const trees = operands.length > 1 ? operands : [...operands, here];
  return { reads: trees, searches: trees };
};

const makesArchive = /^-?[a-zA-Z]*[cru][a-zA-Z]*$|^--(create|append|update|catenate|concatenate)$/;
const printsMembers = /^-?[a-zA-Z]*O|^--to-(stdout|command)/;

/** What goes into an archive is read with all that is below it; what is printed is judged by the names of the members. */
const archives: Judge = (args) => {
  const [first] = args;
  const modes = args.filter(({ value }, at) => value.startsWith('-') || at === 0);
  const files = valuesOf(args, '-f', '--file');
  const writes = [...valuesOf(args, '-C', '--directory'), ...files];
  const members = operandsOf(args).filter((operand) => operand !== first || operand.value.startsWith('/'));
  const isMade = modes.some(({ value }) => makesArchive.test(value) && !/^-?x|^--extract/.test(value));
  if (!isMade)
    return modes.some(({ value }) => printsMembers.test(value)) ? { writes, ...prints(members) } : { writes };
  const base = valuesOf(args, '-C', '--directory').at(-1);
  const placed = members.map((member) =>
    base === undefined || member.value.startsWith('/') ? member : { ...member, value: `${base.value}/${member.value}` },
  );
  return { writes, reads: placed, searches: placed };
};
/** Without names it prints all members, which may be whatever is here. */
const prints = (members: Argument[]): Effects =>
  members.length > 1 ? { reads: members } : { reads: [here], searches: [here] };
const zips: Judge = (args) => {
  const [, ...members] = operandsOf(args);
  return { ...writesAll(operandsOf(args).slice(0, 1)), reads: members, searches: members };
};
/** The names come from stdin. */
const fromInput: Judge = (args) =>
  args.some(({ value }) => /^-[a-z]*[op]|^--(create|pass-through)/.test(value))
    ? { reads: [here], searches: [here] }
    : {};

const writers: ReadonlyMap<string, Judge> = new Map([
  ...forNames('rm rmdir unlink shred touch mkdir mkfifo mknod tee truncate', writesAll),
  ...forNames('chmod chown chgrp setfacl chattr uniq xxd', writesAfterFirst),
  ...forNames('cp rsync scp', copies),
  ...forNames('install ln link', places),
  ['mv', moves],
  ['sed', writesWith(/^-[a-zA-Z]*i|^--in-place/)],
  ['perl', writesWith(/^-[a-zA-Z]*i/)],
  ['dd', (args) => ({ writes: valuesOf(args, 'of'), reads: valuesOf(args, 'if') })],
  ...forNames('sort curl', writesValues('-o', '--output')),
  ['wget', writesValues('-O', '--output-document')],
  ['tree', writesValues('-o')],
  ...forNames('tar gtar bsdtar', archives),
  ...forNames('zip 7z 7za 7zr rar', zips),
  ...forNames('cpio pax', fromInput),
  [
    'unzip',
    (args) => ({
      writes: valuesOf(args, '-d'),
      ...(args.some(({ value }) => /^-[a-zA-Z]*[pc]/.test(value)) && prints(operandsOf(args))),
    }),
  ],
  ...forNames('grep egrep fgrep zgrep rg rga ag ack ack-grep ugrep ug pt sift', searchesAll),
  ['find', writesValues('-fprint', '-fprint0', '-fprintf', '-fls')],
  ['git', gitWrites],
]);

/** Configuration and templates decide which programs git runs later, so they count as writes to the files they change. */
function gitWrites(args: readonly Argument[]): Effects {
  const values = args.map(({ value }) => value);
  const directory = valuesOf(args.slice(0, 4), '-C')[0]?.value ?? '.';
  const [subcommand, ...operands] = operandsOf(args).slice(directory === '.' ? 0 : 1);
  const output = valuesOf(args, '--output', ...(subcommand?.value === 'archive' ? ['-o'] : []));
  const placed = (file: Argument) => (isAbsolute(file.value) ? file : { ...file, value: `${directory}/${file.value}` });
  if (subcommand?.value === 'rm' && !values.includes('--cached')) return { writes: operands.map(placed) };
  const isReading = values.some((value) => /^--(get|list)/.test(value) || value === '-l');
  if (values.includes('config') && !isReading) return configWrites(args, directory);
  const hasTemplate = values.some((value) => value.startsWith('--template') || value.startsWith('--separate-git-dir'));
  const bringsHooks = (values.includes('init') || values.includes('clone')) && hasTemplate;
  return { writes: bringsHooks ? [...output, knownArgument(`${directory}/.git/hooks`)] : output };
}

function configWrites(args: readonly Argument[], directory: string): Effects {
  const isUser = args.some(({ value }) => value === '--global' || value === '--system');
  const files = valuesOf(args, '-f', '--file');
  return { writes: files.length > 0 ? files : isUser ? [] : [knownArgument(`${directory}/.git/config`)] };
}

/** The hosts in the words of a command, either in a URL or as `user@host:path`; for curl and wget also `localhost:3000`. */
export function hostsIn(words: readonly Argument[]): string[] {
  const isFetch = /^(?:.*\/)?(curl|wget)$/.test(words[0]?.value ?? '');
  return words.flatMap(({ value }) => {
    const found =
      /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?(\[[0-9a-f:]+\]|[^/:?#\0]+)/i.exec(value) ??
      /^[\w.-]+@([\w.-]+)(?::|$)/.exec(value) ??
      (isFetch ? /^(localhost|127(?:\.\d+){3})(?=[:/?]|$)/i.exec(value) : undefined);
    return found?.[1] ? [found[1].toLowerCase()] : [];
  });
}

/** `possible`: the program downloads what is missing, and otherwise works without the network. */
export type NetworkUse = 'none' | 'possible' | 'needed';

const alwaysConnects = nameSet(
  'curl wget ping ping6 dig nslookup host getent nc ncat netcat telnet ftp sftp scp ssh socat nmap traceroute tracepath mtr ' +
    'whois lynx links w3m aria2c http https xh gh glab hub aws gcloud az kubectl helm rclone s3cmd psql mysql mongo mongosh ' +
    'redis-cli ssh-copy-id ssh-keyscan mosh rsync whatweb openssl resolvectl nmcli npx pnpx bunx uvx pipx',
);
/** Package managers and other programs whose network use depends on the subcommand. */
const connectsFor: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(fetch|pull|push|clone|ls-remote|request-pull|send-email|fetch-pack|send-pack)$/],
  ...forNames(
    'npm yarn pnpm bun',
    /^(i|in|install|ci|add|update|up|upgrade|publish|view|info|show|search|outdated|audit|login|whoami|dlx|create|init|exec|x|pack|ping|dist-tag|owner|deprecate|token)$/,
  ),
  ...forNames(
    'pip pip3 uv poetry gem bundle composer conda mamba',
    /^(install|download|search|add|update|upgrade|sync|lock|publish|push|fetch|create|index|wheel|outdated)$/,
  ),
  ['cargo', /^(install|add|update|fetch|publish|search|login|owner|yank|vendor)$/],
  ['go', /^(get|install|mod|work)$/],
  ['docker', /^(pull|push|login|search|build|run|compose|buildx)$/],
  ['podman', /^(pull|push|login|search|build|run)$/],
  ...forNames('apt apt-get dnf yum apk brew snap pacman zypper', /./),
  ...forNames('mvn mvnw', /^(deploy|(dependency|versions|release|wrapper):.*)$/),
  ...forNames('gradle gradlew', /^(publish.*|wrapper)$/),
  ['dotnet', /^(restore|add|publish|nuget|new|tool|workload|package)$/],
]);

/** Programs that may download whatever they are asked for, and their subcommands that do. */
const mayConnect: ReadonlyMap<string, RegExp> = new Map([
  ...forNames('mvn mvnw gradle gradlew dotnet', /./),
  ...forNames('pip pip3 uv poetry gem bundle composer conda mamba', /^list$/),
]);

const connectingGit = /^(remote (update|show|prune|add -f)|submodule (update|add|init|sync))/;

function usesRemote(args: readonly Argument[], operands: readonly string[]): boolean {
  return connectingGit.test(operands.slice(0, 2).join(' ')) || args.some(({ value }) => value.startsWith('--remote'));
}

function networkUse(
  name: string,
  { args, operands }: { args: readonly Argument[]; operands: readonly string[] },
): NetworkUse {
  if (alwaysConnects.has(name)) return args[0]?.value === '--version' ? 'none' : 'needed';
  if (name === 'git' && usesRemote(args, operands)) return 'needed';
  // Without a subcommand it installs.
  if (name === 'yarn' && operands.length === 0) return args.length === 0 ? 'needed' : 'possible';
  if (args.some(({ value }) => value === '--refresh-dependencies')) return 'needed';
  const words = operands.slice(0, name === 'git' ? 3 : 1);
  const uses = (table: ReadonlyMap<string, RegExp>) => words.some((word) => table.get(name)?.test(word) === true);
  if (uses(connectsFor)) return 'needed';
  return uses(mayConnect) ? 'possible' : 'none';
}
