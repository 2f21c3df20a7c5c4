import { type Argument } from '../shell/expand-word.js';
import { forNames, nameSet } from './name-set.js';

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

export function networkUse(
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
