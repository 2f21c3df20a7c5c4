import { type CheckContext, checkValue, closestName, isReserved, uniqueEntries } from './check-value.js';
import type { Environment } from './dot-env.js';
import { type KnownSetting, settingBySpelling, settingGroups } from './keys.js';
import { type Assignment, isLooser, type LayerName } from './merge-layers.js';
import type { JsonEntry, JsonNode, JsonValue } from './parse-jsonc.js';
import { isBlank, JsoncError, parseJsonc, valueOf } from './parse-jsonc.js';
import { foreignHand, maxSettingsBytes, readBounded } from './read-bounded.js';

/** A mistake in a settings file, and what was expected instead. */
export interface SettingsProblem {
  /** The file, or the name of a variable or flag. */
  source: string;
  line?: number;
  /** Empty when the problem concerns the whole file. */
  key: string;
  message: string;
}

export interface SettingsFile {
  path: string;
  layer: LayerName;
  /** Qwen Code's own file: its other keys are ignored. */
  isForeign: boolean;
  /** Of a plugin: the hash of its files. */
  pin?: string;
}

/** The content of a settings file. */
export type FileContent =
  | { status: 'absent' }
  | { status: 'unreadable'; problem: SettingsProblem }
  /** `doubt`: why somebody else may have written it, so that it can only restrict. */
  | { status: 'parsed'; root: JsonNode; doubt?: string };

export interface Interpretation {
  assignments: Assignment[];
  problems: SettingsProblem[];
  /** A deny or ask rule may be lost, so no call may run without asking. */
  mayLackRestrictions: boolean;
}

export async function openSettingsFile(path: string): Promise<FileContent> {
  const unreadable = (message: string, line?: number): FileContent => {
    return { status: 'unreadable', problem: { source: path, ...(line !== undefined && { line }), key: '', message } };
  };
  try {
    let doubt: string | undefined;
    const text = readBounded(path, maxSettingsBytes, (info) => {
      doubt = foreignHand(info);
    });
    if (text === undefined || isBlank(text)) return { status: 'absent' };
    const root = await parseJsonc(text);
    if (root.type !== 'object') return unreadable('The file must hold one object: { … }.', 1);
    return { status: 'parsed', root, ...(doubt !== undefined && { doubt }) };
  } catch (error) {
    if (error instanceof JsoncError) return unreadable(`${error.message}. The whole file is ignored.`, error.line);
    if (error instanceof Error) return unreadable(`${error.message} The whole file is ignored.`);
    throw error;
  }
}

/** Bounds the output, and the time to search for the closest names. */
const maxProblems = 50;
/** Far more than there are settings; a larger file is hostile. */
const maxKeys = 2_000;

/** The settings of a file, checked against the table. */
export function interpretFile(file: SettingsFile, content: FileContent, env: Environment): Interpretation {
  const result: Interpretation = { assignments: [], problems: [], mayLackRestrictions: false };
  if (content.status === 'absent') return result;
  if (content.status === 'unreadable') return { ...result, problems: [content.problem], mayLackRestrictions: true };
  const { doubt } = content;
  if (doubt !== undefined) {
    const message = `The file can only restrict: ${doubt}. Make it your own with chown and chmod go-w.`;
    result.problems.push({ source: file.path, key: '', message });
  }
  const context: CheckContext = {
    env,
    report: ({ line }, key, message) => {
      const isFull = result.problems.length >= maxProblems;
      if (isFull || isRestriction(likelySetting(key))) result.mayLackRestrictions = true;
      if (!isFull) result.problems.push({ source: file.path, line, key, message });
    },
  };
  const assign = (setting: KnownSetting, spelling: string, node: JsonNode) => {
    const value = checkSetting(setting, spelling, node, context);
    if (value === undefined) return;
    const { layer, path: source, pin } = file;
    const origin = { written: valueOf(node), layer, source, line: node.line, ...(pin !== undefined && { pin }) };
    const isDoubtful = doubt !== undefined;
    addOnce({ setting, value, ...origin, ...(isDoubtful && { isDoubtful }) }, spelling, result.assignments, context);
  };
  const unknown = (entry: JsonEntry, path: string) => {
    if (result.problems.length < maxProblems) reportUnknown(entry, path, file, context);
    else result.mayLackRestrictions = true;
  };
  walk(content.root, '', { assign, unknown, keysLeft: maxKeys }, context);
  return result;
}

/** The checked value, the replacement for a wrong one, or `undefined` if it is ignored. */
export function checkSetting(
  setting: KnownSetting,
  spelling: string,
  node: JsonNode,
  context: CheckContext,
): JsonValue | undefined {
  const value = checkValue(setting.shape, node, spelling, context);
  if (value !== undefined) return value;
  // One forbidden thing written without brackets is still forbidden.
  if (isRestriction(setting) && node.type === 'scalar' && typeof node.value === 'string') return [node.value];
  return setting.strict;
}

interface Visitor {
  assign(setting: KnownSetting, spelling: string, node: JsonNode): void;
  unknown(entry: JsonEntry, path: string): void;
  keysLeft: number;
}

function walk(node: JsonNode, group: string, visitor: Visitor, context: CheckContext): void {
  if (node.type !== 'object') return;
  // If a group is written twice, both count, so that rules in the first one are not lost.
  if (new Set(node.entries.map(({ key }) => key)).size < node.entries.length) uniqueEntries(node, group, context);
  for (const entry of node.entries) {
    if (visitor.keysLeft-- === 0)
      context.report(entry, 'permissions', 'The file has too many keys; the rest is ignored.');
    if (visitor.keysLeft < 0) return;
    const path = group === '' ? entry.key : `${group}.${entry.key}`;
    const setting = settingBySpelling.get(path);
    const isGroup = settingGroups.has(path);
    if (setting !== undefined && !(isGroup && entry.value.type === 'object'))
      visitor.assign(setting, path, entry.value);
    else if (isGroup && entry.value.type === 'object') walk(entry.value, path, visitor, context);
    else if (isGroup) context.report(entry, path, 'Expected an object with settings.');
    else visitor.unknown(entry, path);
  }
}

function addOnce(
  assignment: Assignment & { line: number },
  spelling: string,
  assignments: Assignment[],
  context: CheckContext,
): void {
  const { setting } = assignment;
  const index = assignments.findIndex((other) => other.setting === setting);
  const earlier = assignments[index];
  if (earlier === undefined || setting.merge === 'union' || setting.merge === 'concat')
    return void assignments.push(assignment);
  context.report(
    assignment,
    spelling,
    `The file sets "${setting.key}" more than once; the strictest or last value counts.`,
  );
  if (!isLooser(setting, assignment.value, earlier.value)) assignments[index] = assignment;
}

function reportUnknown(entry: JsonEntry, path: string, file: SettingsFile, context: CheckContext): void {
  if (path === '$schema' || path === '$version') return;
  if (isReserved(entry.key)) return context.report(entry, path, 'This name cannot be used.');
  const meant = closestSpelling(path);
  if (meant !== undefined) context.report(entry, path, `Unknown setting. Did you mean "${meant}"?`);
  else if (!file.isForeign) context.report(entry, path, 'Unknown setting. docs/settings.md lists all settings.');
}

function closestSpelling(path: string): string | undefined {
  const group = path.slice(0, path.lastIndexOf('.') + 1);
  const near = [...settingBySpelling.keys(), ...settingGroups].filter((spelling) => spelling.startsWith(group));
  const tail = closestName(
    path.slice(group.length),
    near.map((spelling) => spelling.slice(group.length)),
  );
  return tail === undefined ? closestName(path, settingBySpelling.keys()) : `${group}${tail}`;
}

function likelySetting(key: string): KnownSetting | undefined {
  const plain = key.replace(/\[.*$/s, '');
  return settingBySpelling.get(plain) ?? settingBySpelling.get(closestSpelling(plain) ?? '') ?? groupRestriction(plain);
}

/** A wrong group, such as `"permissions": []`, may have contained restrictions. */
function groupRestriction(group: string): KnownSetting | undefined {
  const meant = settingGroups.has(group) ? group : (closestSpelling(group) ?? group);
  return [...settingBySpelling.values()].find((entry) => isRestriction(entry) && entry.key.startsWith(`${meant}.`));
}

function isRestriction(setting: KnownSetting | undefined): boolean {
  return setting?.merge === 'union' && setting.workspace === 'tighten';
}
