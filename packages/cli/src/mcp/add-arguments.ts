import type { McpServerSettings } from '@lathe/core/mcp';
import { UsageError } from '../command-line/args.js';

/** The parsed arguments of `lathe mcp add`. */
export interface AddRequest {
  name: string;
  scope: 'user' | 'project';
  server: McpServerSettings;
}

const withValue = new Map([
  ['-s', 'scope'],
  ['-t', 'transport'],
  ['-e', 'env'],
  ['-H', 'header'],
  ...['scope', 'transport', 'env', 'header', 'timeout', 'description', 'include-tools', 'exclude-tools', 'cwd'].map(
    (name) => [`--${name}`, name] as const,
  ),
]);

/** `[flags] name command [arguments …]` or `[flags] name url [flags]`. All arguments after a command belong to it. */
export function parseAdd(args: readonly string[]): AddRequest {
  const options = new Map<string, string[]>();
  const operands: string[] = [];
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const isCommand = operands.length >= 2 && !isUrl(operands[1] ?? '');
    if (isCommand) operands.push(word);
    else if (word === '--') operands.push(...rest.splice(0));
    else if (!word.startsWith('-')) operands.push(word);
    else takeOption(word, rest, options);
  }
  const [name, target, ...extra] = operands;
  if (name === undefined || target === undefined)
    throw new UsageError('mcp add needs a name and a command or URL: lathe mcp add <name> <command|url> [args…]');
  return { name, scope: scopeOf(options), server: { ...endpoint(target, extra, options), ...common(options) } };
}

function takeOption(word: string, rest: string[], options: Map<string, string[]>): void {
  const [flag = '', inline] = word.startsWith('--') ? word.split(/=(.*)/s) : [word];
  if (flag === '--trust') {
    options.set('trust', ['true']);
    return;
  }
  const name = withValue.get(flag);
  const value = inline ?? rest.shift();
  if (name === undefined) throw new UsageError(`mcp add has no flag ${flag}`);
  if (value === undefined) throw new UsageError(`${flag} needs a value`);
  options.set(name, [...(options.get(name) ?? []), value]);
}

function endpoint(target: string, extra: readonly string[], options: Map<string, string[]>): McpServerSettings {
  const transport = options.get('transport')?.at(-1) ?? (isUrl(target) ? 'http' : 'stdio');
  const headers = pairs(options.get('header') ?? [], /^([^:]+):\s*(.*)$/s, '--header "Name: value"');
  const web = { ...(Object.keys(headers).length > 0 && { headers }) };
  const env = pairs(options.get('env') ?? [], /^([^=]+)=(.*)$/s, '--env NAME=value');
  const [cwd] = options.get('cwd') ?? [];
  switch (transport) {
    case 'http':
      return { httpUrl: target, ...web };
    case 'sse':
      return { url: target, type: 'sse', ...web };
    case 'stdio':
      return {
        command: target,
        ...(extra.length > 0 && { args: [...extra] }),
        ...(Object.keys(env).length > 0 && { env }),
        ...(cwd !== undefined && { cwd }),
      };
    default:
      throw new UsageError(`--transport must be stdio, http or sse, not ${JSON.stringify(transport)}`);
  }
}

function common(options: Map<string, string[]>): McpServerSettings {
  const [timeout] = options.get('timeout') ?? [];
  const [description] = options.get('description') ?? [];
  const lists = (key: string) => options.get(key)?.flatMap((text) => text.split(',').map((name) => name.trim()));
  const [include, exclude] = [lists('include-tools'), lists('exclude-tools')];
  return {
    ...(timeout !== undefined && { timeout: Number(timeout) }),
    ...(description !== undefined && { description }),
    ...(include && { includeTools: include }),
    ...(exclude && { excludeTools: exclude }),
    ...(options.has('trust') && { trust: true }),
  };
}

function scopeOf(options: Map<string, string[]>): AddRequest['scope'] {
  const scope = options.get('scope')?.at(-1) ?? 'user';
  if (scope === 'user' || scope === 'project') return scope;
  throw new UsageError(`--scope must be user or project, not ${JSON.stringify(scope)}`);
}

function pairs(texts: readonly string[], form: RegExp, usage: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const match = form.exec(text);
      if (!match) throw new UsageError(`write ${usage}, not ${JSON.stringify(text)}`);
      return [match[1]?.trim() ?? '', match[2] ?? ''];
    }),
  );
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}
