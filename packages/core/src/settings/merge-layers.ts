import type { KnownSetting } from './keys.js';
import { isArray, type JsonValue } from './parse-jsonc.js';

export type LayerName = 'system' | 'user' | 'plugin' | 'workspace' | 'environment' | 'flags';

/** Where the value of a setting comes from; lists and objects that are merged have several sources. */
export interface Origin {
  layer: LayerName;
  /** A path, or the name of a variable or flag. */
  source: string;
  line?: number;
  /** As it is written, with variables not expanded: the only form that may be shown. */
  written: JsonValue;
  /** Of a plugin: the hash of its files. */
  pin?: string;
}

/** One setting in one source. */
export interface Assignment extends Origin {
  setting: KnownSetting;
  /** Checked and expanded. */
  value: JsonValue;
  /** Somebody else may have written the file, so it has the rights of an untrusted folder. */
  isDoubtful?: boolean;
}

/** A value that a source is not allowed to set. */
export interface Ignored extends Origin {
  key: string;
  reason: string;
}

export interface Merged {
  values: Map<string, JsonValue>;
  origins: Map<string, Origin[]>;
  ignored: Ignored[];
}

/** Applies assignments in order, lowest layer first, each within the rights of its layer. */
export function mergeLayers(
  assignments: readonly Assignment[],
  defaults: ReadonlyMap<string, JsonValue>,
  { isTrusted, isAgreed }: { isTrusted: boolean; isAgreed?: ((rule: string) => boolean) | undefined },
): Merged {
  const merged: Merged = { values: new Map(defaults), origins: new Map(), ignored: [] };
  const bound = new Set<string>();
  for (const assignment of assignments) {
    const { setting, layer } = assignment;
    const permitted = permit(assignment, merged, { isTrusted, isAgreed, isBound: bound.has(setting.key) });
    if (permitted === undefined) continue;
    const before = merged.values.get(setting.key);
    merged.values.set(setting.key, combine(assignment, before, permitted, bound.has(setting.key)));
    if (layer === 'system' && setting.workspace === 'tighten') bound.add(setting.key);
    noteOrigin(assignment, permitted, merged);
  }
  return merged;
}

function noteOrigin(assignment: Assignment, value: JsonValue, { origins }: Merged): void {
  const { key, merge } = assignment.setting;
  const origin = originOf(assignment);
  const add = (name: string, entry: Origin, isAdded: boolean) =>
    origins.set(name, [...(isAdded ? (origins.get(name) ?? []) : []), entry]);
  if (merge !== 'by-key' || !isObject(value)) add(key, origin, merge !== 'replace');
  else
    for (const [name, child] of Object.entries(value)) {
      const written = isObject(origin.written) ? (origin.written[name] ?? null) : null;
      add(`${key}.${name}`, { ...origin, written }, isArray(child));
    }
}

/** Whether `value` permits more than `other`. */
export function isLooser(setting: KnownSetting, value: JsonValue, other: JsonValue | undefined): boolean {
  if (setting.strictness === undefined || other === undefined) return false;
  if (setting.strictness === 'low') return amount(value) > amount(other);
  const order: readonly unknown[] = setting.strictness;
  return order.indexOf(value) > order.indexOf(other);
}

interface Power {
  isTrusted: boolean;
  isAgreed: ((rule: string) => boolean) | undefined;
  /** The system file has set it. */
  isBound: boolean;
}

function permit(assignment: Assignment, merged: Merged, power: Power): JsonValue | undefined {
  const { setting, value } = assignment;
  const refuse = (reason: string): undefined => {
    merged.ignored.push({ ...originOf(assignment), key: setting.key, reason });
  };
  const current = merged.values.get(setting.key);
  if (assignment.isDoubtful && setting.workspace !== 'tighten') return refuse('somebody else may have written it');
  if (isLimited(assignment)) {
    if (setting.workspace === 'never') return refuse('a workspace file cannot set it');
    if (!power.isTrusted && assignment.layer !== 'plugin' && setting.workspace === 'free')
      return refuse('the folder is not trusted');
    if (isLooser(setting, value, current)) return refuse('a workspace file can only make it stricter');
    return withoutRefused(assignment, merged, power);
  }
  if (power.isBound && isLooser(setting, value, current)) return refuse('the system settings are stricter');
  return value;
}

/** Whether a value may only make a setting stricter. */
const isLimited = ({ layer, isDoubtful }: Assignment): boolean =>
  layer === 'workspace' || layer === 'plugin' || isDoubtful === true;

const notAgreed = 'you have not agreed to this rule; run lathe trust to agree';

/** The allow rules of a trusted folder that do not count yet, because the user has not agreed to them. */
export function unagreedRules(ignored: readonly Ignored[]): Ignored[] {
  return ignored.filter(({ reason }) => reason === notAgreed);
}

/** A workspace may not allow everything, nor rules that the user has not agreed to, nor trust its own servers. */
function withoutRefused(assignment: Assignment, merged: Merged, { isAgreed }: Power): JsonValue {
  const { setting, value } = assignment;
  const note = (key: string, written: JsonValue, reason: string) =>
    merged.ignored.push({ ...originOf(assignment), key, written, reason });
  if (setting.notFromWorkspace !== undefined && isArray(value)) {
    return value.filter((entry) => {
      if (typeof entry !== 'string') return true;
      const isTooWide = setting.notFromWorkspace?.test(entry) === true;
      if (!isTooWide && isAgreed?.(entry) !== false) return true;
      note(setting.key, entry, isTooWide ? 'a workspace file cannot allow everything' : notAgreed);
      return false;
    });
  }
  if (setting.key !== 'mcpServers' || !isObject(value)) return value;
  const servers: Record<string, JsonValue> = Object.create(null);
  for (const [name, server] of Object.entries(value)) {
    const key = `${setting.key}.${name}`;
    const owner = merged.origins.get(key)?.[0];
    // Rules such as `name__*` were written for the user's own server.
    const isTaken = owner !== undefined && !(owner.layer === 'workspace' && assignment.layer === 'workspace');
    if (isTaken) note(key, name, `the name belongs to ${owner.source}`);
    else if (isObject(server) && server['trust'] === true) {
      note(`${key}.trust`, true, 'a workspace file cannot trust a server');
      servers[name] = { ...server, trust: false };
    } else servers[name] = server;
  }
  return servers;
}

function combine(assignment: Assignment, before: JsonValue | undefined, value: JsonValue, isBound: boolean): JsonValue {
  const { setting } = assignment;
  switch (setting.merge) {
    case 'replace':
      return value;
    case 'union':
      return [...new Set([...asList(before), ...asList(value)])];
    case 'concat':
      return [...asList(before), ...asList(value)];
    case 'narrow': {
      if (before === undefined || !(isLimited(assignment) || isBound)) return value;
      const kept = new Set(asList(value));
      return asList(before).filter((entry) => kept.has(entry));
    }
    case 'by-key':
      return byKey(before, value);
  }
}

/** Lists with the same name are concatenated, so that no layer removes hooks of another; other values are replaced. */
function byKey(before: JsonValue | undefined, value: JsonValue): JsonValue {
  const result: Record<string, JsonValue> = Object.assign(Object.create(null), before);
  for (const [name, entry] of isObject(value) ? Object.entries(value) : []) {
    const earlier = result[name];
    result[name] = isArray(entry) && earlier !== undefined ? [...asList(earlier), ...entry] : entry;
  }
  return result;
}

function originOf({ layer, source, line, written, pin }: Assignment): Origin {
  return { layer, source, ...(line !== undefined && { line }), written, ...(pin !== undefined && { pin }) };
}

function amount(value: JsonValue): number {
  return value === -1 ? Number.POSITIVE_INFINITY : Number(value);
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isArray(value) ? value : [];
}

function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
