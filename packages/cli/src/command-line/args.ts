import { type ParseArgsConfig, parseArgs } from 'node:util';
import { likelyNames } from '@lathe/core/host';
import { approvalModes, type ModeName, modeNamed, shownMode } from './approval-modes.js';
import { errorMessage } from './error-message.js';

/** Wrong usage: the message goes to stderr and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const sandboxModes = ['required', 'auto', 'off'] as const;
/** The levels of `model.effort`, here again so that the code of models is not loaded with every command. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const outputFormats = ['text', 'json', 'stream-json'] as const;
export const inputFormats = ['text', 'stream-json'] as const;

/** The parsed command line. */
export interface Invocation {
  /** `undefined` starts the agent. */
  command: string | undefined;
  /** The arguments after the command, without flags. Commands with their own flags get everything. */
  operands: string[];
  flags: Flags;
}

export interface Flags {
  help: boolean;
  json: boolean;
  trust: boolean;
  list: boolean;
  remove: boolean;
  yes: boolean;
  screenReader: boolean;
  approvalMode?: ModeName;
  outputFormat?: (typeof outputFormats)[number];
  inputFormat?: (typeof inputFormats)[number];
  prompt?: string;
  cwd?: string;
  model?: string;
  effort?: (typeof efforts)[number];
  allowedTools: string[];
  continue: boolean;
  resume?: string;
  sandbox?: (typeof sandboxModes)[number];
  jsonSchema?: string;
  record?: string;
  replay?: string;
  out?: string;
  includePartialMessages: boolean;
  maxTurns?: number;
  maxTokens?: number;
  maxMinutes?: number;
  /** How many tasks of a batch run at once. */
  jobs?: number;
  /** The name of a worktree; empty for a new one. */
  worktree?: string;
  fromCommit: boolean;
}

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  json: { type: 'boolean' },
  trust: { type: 'boolean' },
  list: { type: 'boolean' },
  remove: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  yolo: { type: 'boolean' },
  'screen-reader': { type: 'boolean' },
  'approval-mode': { type: 'string' },
  'output-format': { type: 'string', short: 'o' },
  'input-format': { type: 'string' },
  prompt: { type: 'string', short: 'p' },
  cwd: { type: 'string' },
  model: { type: 'string', short: 'm' },
  effort: { type: 'string' },
  'allowed-tools': { type: 'string', multiple: true },
  continue: { type: 'boolean', short: 'c' },
  resume: { type: 'string', short: 'r' },
  sandbox: { type: 'string' },
  'json-schema': { type: 'string' },
  record: { type: 'string' },
  replay: { type: 'string' },
  out: { type: 'string' },
  'include-partial-messages': { type: 'boolean' },
  'max-turns': { type: 'string' },
  'max-tokens': { type: 'string' },
  'max-minutes': { type: 'string' },
  jobs: { type: 'string' },
  worktree: { type: 'string' },
  'from-commit': { type: 'boolean' },
} satisfies ParseArgsConfig['options'];

/** Every flag as it is typed, for shell completion. */
export const flagNames: readonly string[] = Object.keys(options).map((name) => `--${name}`);

/** Commands that parse their own arguments. */
const ownFlags = new Set(['mcp', 'serve', 'clean', 'audit', 'fleet']);

export function parseInvocation(args: readonly string[], commands: ReadonlySet<string>): Invocation {
  const invocation = parseAll(args, commands);
  const { command, flags } = invocation;
  // Without this it would work on the files that the person wants to keep from it.
  if (command !== undefined && flags.worktree !== undefined)
    throw new UsageError(`${command} does not take --worktree`);
  return invocation;
}

function parseAll(args: readonly string[], commands: ReadonlySet<string>): Invocation {
  const raw = rawCommand(args);
  const { values, positionals } = parse(raw ? raw.before : args);
  const flags = flagsOf(values);
  if (raw)
    return {
      command: raw.command,
      operands: raw.after,
      flags: { ...flags, help: flags.help || asksForHelp(raw.after) },
    };
  const [first, ...rest] = positionals;
  if (first === 'help' && flags.prompt === undefined && rest.every((word, at) => at === 0 && commands.has(word)))
    return { command: rest[0], operands: [], flags: { ...flags, help: true } };
  if (first !== undefined && commands.has(first)) return { command: first, operands: rest, flags };
  if (first !== undefined && rest.length === 0 && flags.prompt === undefined) assertNoSlip(first, commands);
  return { command: undefined, operands: positionals, flags };
}

/** One word that is almost a command is a typing error, which no model should be asked about. */
function assertNoSlip(word: string, commands: ReadonlySet<string>): void {
  const known = [...commands, '--version'];
  const meant = word.length < 4 ? undefined : known.find((name) => isSlip(word, name) || name === `--${word}`);
  if (meant !== undefined)
    throw new UsageError(
      `there is no command ${word}; did you mean lathe ${meant}? To send it as a prompt: lathe -p ${word}`,
    );
}

/** One character more, less or different, or two swapped. */
function isSlip(word: string, name: string): boolean {
  const shorter = Math.min(word.length, name.length);
  let start = 0;
  while (start < shorter && word[start] === name[start]) start++;
  let end = 0;
  while (end < shorter - start && word.at(-1 - end) === name.at(-1 - end)) end++;
  const [typed, meant] = [word.slice(start, word.length - end), name.slice(start, name.length - end)];
  return (typed.length <= 1 && meant.length <= 1) || (typed.length === 2 && meant === `${typed[1]}${typed[0]}`);
}

function flagsOf(values: ReturnType<typeof parse>['values']): Flags {
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    trust: values.trust ?? false,
    list: values.list ?? false,
    remove: values.remove ?? false,
    yes: values.yes ?? false,
    screenReader: values['screen-reader'] ?? false,
    continue: values.continue ?? false,
    allowedTools: (values['allowed-tools'] ?? []).flatMap(splitRules),
    ...approvalMode(values),
    ...optional('outputFormat', oneOf('--output-format', values['output-format'], outputFormats)),
    ...optional('inputFormat', oneOf('--input-format', values['input-format'], inputFormats)),
    ...optional('prompt', values.prompt),
    ...optional('cwd', values.cwd),
    ...optional('model', values.model),
    ...optional('effort', oneOf('--effort', values.effort, efforts)),
    ...optional('resume', values.resume),
    ...optional('sandbox', oneOf('--sandbox', normalizeSandbox(values.sandbox), sandboxModes)),
    ...optional('jsonSchema', values['json-schema']),
    ...optional('record', values.record),
    ...optional('replay', values.replay),
    ...optional('out', values.out),
    includePartialMessages: values['include-partial-messages'] ?? false,
    ...optional('maxTurns', count('--max-turns', values['max-turns'])),
    ...optional('maxTokens', count('--max-tokens', values['max-tokens'])),
    ...optional('maxMinutes', count('--max-minutes', values['max-minutes'])),
    ...optional('jobs', count('--jobs', values.jobs)),
    ...optional('worktree', worktreeName(values.worktree)),
    fromCommit: values['from-commit'] ?? false,
  };
}

/** Which earlier session to continue, if any. */
export function resumeOf(flags: Flags): { resume?: 'latest' | { id: string } } {
  if (flags.resume === '') throw new UsageError('--resume needs the id of a session here; see lathe sessions');
  if (flags.resume !== undefined) return { resume: { id: flags.resume } };
  return flags.continue ? { resume: 'latest' } : {};
}

function parse(args: readonly string[]) {
  return parseFlags(args.map(withEmptyValue), options);
}

/** The flags and operands of a command that has its own. */
export function parseFlags<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  known: T,
): ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options: known, allowPositionals: true });
  } catch (error) {
    const message = errorMessage(error);
    // Node adds advice about arguments that begin with a dash, which is rarely what the person meant.
    const plain = message.replace(/\. To specify a positional .*/s, '');
    const [, flag] = /^Unknown option '--([\w-]+)'/.exec(plain) ?? [];
    const [meant] = flag === undefined ? [] : likelyNames(flag, Object.keys(known));
    throw new UsageError(meant === undefined ? plain : `${plain}. Did you mean --${meant}?`);
  }
}

/** `--resume` without an id: the person chooses a session. `--worktree` without a name: a new one. `-p`: stdin. */
function withEmptyValue(arg: string, index: number, args: readonly string[]): string {
  const next = args[index + 1];
  if (next !== undefined && !next.startsWith('-')) return arg;
  if (arg === '--worktree') return '--worktree=';
  if (arg === '--resume' || arg === '-r') return '--resume=';
  return arg === '--prompt' || arg === '-p' ? '--prompt=' : arg;
}

/** It becomes the name of a directory and of a branch. */
function worktreeName(value: string | undefined): string | undefined {
  if (value === undefined || value === '' || /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(value)) return value;
  throw new UsageError(`--worktree takes a name of letters, digits, - and _, not ${JSON.stringify(value)}`);
}

/** `lathe [flags] mcp …`: everything after the command belongs to it. */
function rawCommand(args: readonly string[]): { command: string; before: string[]; after: string[] } | undefined {
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const first = tokens.find(({ kind }) => kind === 'positional');
  if (first?.kind !== 'positional' || !ownFlags.has(first.value)) return undefined;
  return { command: first.value, before: args.slice(0, first.index), after: args.slice(first.index + 1) };
}

/** `lathe mcp --help` or `lathe mcp add --help`. A later --help may belong to the server's own command. */
function asksForHelp(after: readonly string[]): boolean {
  return after.slice(0, 2).some((arg) => arg === '--help' || arg === '-h');
}

function approvalMode(values: { yolo?: boolean; 'approval-mode'?: string }): Pick<Flags, 'approvalMode'> {
  const written = values['approval-mode'];
  const mode = written === undefined ? undefined : modeNamed(written);
  if (mode === undefined) oneOf('--approval-mode', written, approvalModes.map(shownMode));
  if (values.yolo && mode !== undefined && mode !== 'yolo')
    throw new UsageError(`--yolo and --approval-mode ${mode} cannot be used together`);
  return optional('approvalMode', values.yolo ? 'yolo' : mode);
}

/** Qwen Code only has on and off. */
function normalizeSandbox(value: string | undefined): string | undefined {
  return value?.replace(/^true$/, 'required').replace(/^false$/, 'off');
}

function oneOf<T extends string>(flag: string, value: string | undefined, known: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = known.find((candidate) => candidate === value);
  if (found === undefined)
    throw new UsageError(`${flag} must be one of ${known.join(', ')}, not ${JSON.stringify(value)}`);
  return found;
}

/** The number given with a flag. */
export function count(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,12}$/.test(value)) return Number(value);
  throw new UsageError(`${flag} must be a whole number, not ${JSON.stringify(value)}`);
}

/** `a,b(c, d)` → `a`, `b(c, d)`: commas inside parentheses belong to the rule. Half a rule could allow more than intended. */
function splitRules(text: string): string[] {
  const rules: string[] = [];
  let [start, depth] = [0, 0];
  for (let at = 0; at <= text.length; at++) {
    const character = text[at] ?? ',';
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (depth < 0 || (at === text.length && depth > 0))
      throw new UsageError(`--allowed-tools: the parentheses in ${JSON.stringify(text)} are not balanced`);
    if (character !== ',' || depth > 0) continue;
    rules.push(text.slice(start, at).trim());
    start = at + 1;
  }
  return rules.filter((rule) => rule !== '');
}

function optional<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object with exactly this key, or no key
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: V };
}
