import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { LatheHome } from '../files/lathe-home.js';
import { isWithin } from '../files/workspace.js';
import { changeFile } from './change-file.js';
import { checkValue } from './check-value.js';
import { editJsonc } from './edit-jsonc.js';
import { type KnownSetting, settingBySpelling } from './keys.js';
import { isBlank, JsoncError, type JsonNode, type JsonValue, nodeOf, parseJsonc, valueOf } from './parse-jsonc.js';

/** A settings file of Lathe; no other file is ever written. */
export interface WritableSettings {
  path: string;
  /** The real path must be in this folder: a symlink must not turn a project's file into the user's. */
  within?: string;
  /** Mode of a new file; an existing one keeps its own. */
  mode: number;
}

/** The settings file of the person, to be changed. */
export function userSettings(home: LatheHome): WritableSettings {
  return { path: home.file('settings.json'), mode: 0o600 };
}

/** The settings file of a project, to be changed. */
export function projectSettings(root: string): WritableSettings {
  return { path: join(root, '.lathe', 'settings.json'), within: root, mode: 0o644 };
}

/**
 * Changes one setting and nothing else in the file: `change` gets the value as written and returns the new one, or
 * `undefined` to remove it. `path` is a canonical key split at its dots, optionally followed by the name of an entry:
 * `['mcpServers', 'github']`. If the file cannot be parsed, it stays as it is and the call fails.
 */
export async function saveSetting(
  home: LatheHome,
  file: WritableSettings,
  path: readonly [string, ...string[]],
  change: (current: JsonValue | undefined) => JsonValue | undefined,
): Promise<void> {
  const target = await realTarget(file);
  await changeFile(home, {
    path: target,
    mode: file.mode,
    verify: async () => {
      if ((await realTarget(file)) !== target) throw new Error(`${file.path} has moved; nothing was saved.`);
    },
    change: (text) => edit(target, text, path, change),
  });
}

async function edit(
  target: string,
  text: string | undefined,
  path: readonly string[],
  change: (current: JsonValue | undefined) => JsonValue | undefined,
): Promise<string | undefined> {
  const root = await parse(target, text ?? '');
  const place = spellingIn(root, path);
  const node = nodeAt(root, place);
  const current = node === undefined ? undefined : valueOf(node);
  const value = change(current);
  if (value !== undefined) check(path, value);
  if (isDeepStrictEqual(value, current)) return text;
  const edited = await editJsonc(text ?? '', place, value);
  await parse(target, edited);
  return edited;
}

async function parse(target: string, text: string): Promise<JsonNode> {
  try {
    const root = await parseJsonc(isBlank(text) ? '{}' : text);
    if (root.type === 'object') return root;
    throw new JsoncError('The file must hold one object', 1);
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    throw new Error(`${target}:${error.line}: ${error.message}. Nothing was saved; correct the file first.`, {
      cause: error,
    });
  }
}

/** The spelling of this setting that the file already uses, otherwise the canonical one. */
function spellingIn(root: JsonNode, path: readonly string[]): readonly string[] {
  const { setting, below } = settingAt(path);
  const spellings = [setting.key, ...setting.also].map((spelling) => spelling.split('.'));
  const used = spellings.find((names) => nodeAt(root, names) !== undefined);
  return used === undefined ? path : [...used, ...below];
}

/** The setting that the path begins with, and the rest of the path. */
function settingAt(path: readonly string[]): { setting: KnownSetting; below: readonly string[] } {
  for (let length = 1; length <= path.length; length++) {
    const setting = settingBySpelling.get(path.slice(0, length).join('.'));
    if (setting !== undefined) return { setting, below: path.slice(length) };
  }
  throw new Error(`There is no setting "${path.join('.')}".`);
}

function check(path: readonly string[], value: JsonValue): void {
  const { setting, below } = settingAt(path);
  const whole = below.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  const mistakes: string[] = [];
  const report = (_: unknown, key: string, message: string) => mistakes.push(`${key}: ${message}`);
  checkValue(setting.shape, nodeOf(whole), setting.key, { env: {}, report });
  if (mistakes.length > 0) throw new Error(`Nothing was saved. ${mistakes.join(' ')}`);
}

function nodeAt(node: JsonNode, path: readonly string[]): JsonNode | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return node;
  const entry = node.type === 'object' ? node.entries.findLast(({ key }) => key === name) : undefined;
  return entry === undefined ? undefined : nodeAt(entry.value, rest);
}

/** The real path, so that a symlinked settings file stays a symlink. */
async function realTarget({ path, within }: WritableSettings): Promise<string> {
  const target = await realpath(path).catch(async () => {
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    return join(folder, basename(path));
  });
  if (within !== undefined && !isWithin(await realpath(within), target)) {
    throw new Error(`${path} points outside the project, to ${target}; nothing was saved.`);
  }
  return target;
}
