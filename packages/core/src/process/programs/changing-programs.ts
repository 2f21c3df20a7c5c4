import { basename } from 'node:path';
import type { Argument } from '../shell/expand-word.js';
import type { Effects } from './read-arguments.js';

/** What is known of programs that change things: the files they write and whether they use the network. */
export function knownChanges(
  name: string,
  args: readonly Argument[],
): Pick<Effects, 'reads' | 'searches' | 'writes' | 'usesNetwork'> {
  const files = writers.get(name)?.(args) ?? {};
  return { ...files, usesNetwork: usesNetwork(name, args) };
}

type FileUse = (args: readonly Argument[]) => Pick<Effects, 'reads' | 'searches' | 'writes'>;

const isOperand = ({ value }: Argument) => !value.startsWith('-') || value === '-';

function operandsOf(args: readonly Argument[]): Argument[] {
  const end = args.findIndex(({ value }) => value === '--');
  return end === -1 ? args.filter(isOperand) : [...args.slice(0, end).filter(isOperand), ...args.slice(end + 1)];
}

const literal = (value: string): Argument => ({ value, text: value, isKnown: true, isOpen: false });

/** Values of a flag, attached or not. */
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

const writesAll: FileUse = (args) => ({ writes: operandsOf(args) });
const writesAfterFirst: FileUse = (args) => ({ writes: operandsOf(args).slice(1) });

/** `cp a b`: the last operand, or a file of the same name in it. */
const places: FileUse = (args) => {
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
/** The same of a directory with all that is in it. */
const copies: FileUse = (args) => {
  const { reads = [], writes = [] } = places(args);
  return { reads, searches: reads, writes };
};
const moves: FileUse = (args) => {
  const { reads = [], writes = [] } = places(args);
  return { reads, searches: reads, writes: [...reads, ...writes] };
};

const writers: ReadonlyMap<string, FileUse> = new Map([
  ...['rm', 'rmdir', 'unlink', 'shred', 'touch', 'mkdir', 'mkfifo', 'mknod', 'tee', 'truncate'].map(
    (name): [string, FileUse] => [name, writesAll],
  ),
  ...['chmod', 'chown', 'chgrp', 'setfacl', 'chattr'].map((name): [string, FileUse] => [name, writesAfterFirst]),
  ...['cp', 'rsync', 'scp'].map((name): [string, FileUse] => [name, copies]),
  ...['install', 'ln', 'link'].map((name): [string, FileUse] => [name, places]),
  ['mv', moves],
  ['sed', (args) => (args.some(({ value }) => /^-[a-zA-Z]*i|^--in-place/.test(value)) ? writesAll(args) : {})],
  ['perl', (args) => (args.some(({ value }) => /^-[a-zA-Z]*i/.test(value)) ? writesAll(args) : {})],
  ['dd', (args) => ({ writes: valuesOf(args, 'of'), reads: valuesOf(args, 'if') })],
  ['sort', (args) => ({ writes: valuesOf(args, '-o', '--output') })],
  ['curl', (args) => ({ writes: valuesOf(args, '-o', '--output') })],
  ['wget', (args) => ({ writes: valuesOf(args, '-O', '--output-document') })],
  ['tree', (args) => ({ writes: valuesOf(args, '-o') })],
  ['tar', (args) => ({ writes: [...valuesOf(args, '-C', '--directory'), ...valuesOf(args, '-f', '--file')] })],
  ['unzip', (args) => ({ writes: valuesOf(args, '-d') })],
  ['uniq', writesAfterFirst],
  ['xxd', writesAfterFirst],
  ['find', (args) => ({ writes: valuesOf(args, '-fprint', '-fprint0', '-fprintf', '-fls') })],
  ['git', gitWrites],
]);

/** Configuration and templates decide which programs git runs later: they are judged as the files they end up in. */
function gitWrites(args: readonly Argument[]): Pick<Effects, 'writes'> {
  const values = args.map(({ value }) => value);
  const output = valuesOf(args, '--output');
  const directory = valuesOf(args.slice(0, 4), '-C')[0]?.value ?? '.';
  if (values.includes('config') && !values.some((value) => /^--(get|list)/.test(value) || value === '-l')) {
    const isUser = values.some((value) => value === '--global' || value === '--system');
    const files = valuesOf(args, '-f', '--file');
    return { writes: files.length > 0 ? files : isUser ? [] : [literal(`${directory}/.git/config`)] };
  }
  const hasTemplate = values.some((value) => value.startsWith('--template') || value.startsWith('--separate-git-dir'));
  const bringsHooks = (values.includes('init') || values.includes('clone')) && hasTemplate;
  return { writes: bringsHooks ? [...output, literal(`${directory}/.git/hooks`)] : output };
}

const alwaysConnects = new Set(
  (
    'curl wget ping ping6 dig nslookup host getent nc ncat netcat telnet ftp sftp scp ssh socat nmap traceroute tracepath mtr ' +
    'whois lynx links w3m aria2c http https xh gh glab hub aws gcloud az kubectl helm rclone s3cmd psql mysql mongo mongosh ' +
    'redis-cli ssh-copy-id ssh-keyscan mosh rsync whatweb openssl resolvectl nmcli npx pnpx bunx uvx pipx'
  ).split(' '),
);
/** Package managers and their like: programs whose network use depends on the subcommand. */
const connectsFor: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(fetch|pull|push|clone|ls-remote|request-pull|send-email|fetch-pack|send-pack)$/],
  ...['npm', 'yarn', 'pnpm', 'bun'].map((name): [string, RegExp] => [
    name,
    /^(i|in|install|ci|add|update|up|upgrade|publish|view|info|show|search|outdated|audit|login|whoami|dlx|create|init|exec|x|pack|ping|dist-tag|owner|deprecate|token)$/,
  ]),
  ...['pip', 'pip3', 'uv', 'poetry', 'gem', 'bundle', 'composer', 'conda', 'mamba'].map((name): [string, RegExp] => [
    name,
    /^(install|download|search|add|update|upgrade|sync|lock|publish|push|fetch|create|index|wheel|list|outdated)$/,
  ]),
  ['cargo', /^(install|add|update|fetch|publish|search|login|owner|yank|vendor)$/],
  ['go', /^(get|install|mod|work)$/],
  ['docker', /^(pull|push|login|search|build|run|compose|buildx)$/],
  ['podman', /^(pull|push|login|search|build|run)$/],
  ...['apt', 'apt-get', 'dnf', 'yum', 'apk', 'brew', 'snap', 'pacman', 'zypper', 'mvn', 'gradle', 'dotnet'].map(
    (name): [string, RegExp] => [name, /./],
  ),
]);

function usesNetwork(name: string, args: readonly Argument[]): boolean {
  const operands = operandsOf(args).map(({ value }) => value);
  if (alwaysConnects.has(name)) return args[0]?.value !== '--version';
  if (
    name === 'git' &&
    /^(remote (update|show|prune|add -f)|submodule (update|add|init|sync))/.test(operands.slice(0, 2).join(' '))
  )
    return true;
  if (name === 'git' && args.some(({ value }) => value.startsWith('--remote'))) return true;
  const pattern = connectsFor.get(name);
  return pattern !== undefined && operands.slice(0, name === 'git' ? 3 : 1).some((word) => pattern.test(word));
}

/** Hosts spelled out in arguments: in addresses, or as `user@host:path`. */
export function hostsIn(args: readonly Argument[]): string[] {
  return args.flatMap(({ value }) => {
    const found =
      /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?(\[[0-9a-f:]+\]|[^/:?#\0]+)/i.exec(value) ??
      /^[\w.-]+@([\w.-]+)(?::|$)/.exec(value);
    return found?.[1] ? [found[1].toLowerCase()] : [];
  });
}
