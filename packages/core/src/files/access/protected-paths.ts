import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../../contract/errors.js';
import { osPath } from '../file-name.js';
import { executedNames, secretNames } from './protected-names.js';

/**
 * Paths whose content other programs execute or act on later, and paths that hold secrets. Names alone decide, so paths
 * are protected before they exist. Names are folded as the most forgiving file system does.
 */

/** Why writing `realPath` needs a person's approval in any mode; `undefined` for an ordinary path. */
export function protectionOf(realPath: string): string | undefined {
  const name = firstMatch(judgedNames(realPath), executed);
  if (name === undefined) return undefined;
  const at = realPath.toLowerCase().lastIndexOf(name);
  const written = realPath.slice(at, at + name.length);
  const shown = written.toLowerCase() === name ? written : name;
  return `${shown} is configuration that other programs execute or act on`;
}

/** Why reading `realPath` needs a person's approval in any mode; `undefined` for an ordinary path. */
export function secrecyOf(realPath: string): string | undefined {
  const segments = judgedNames(realPath);
  const copied = segments.at(-1)?.replace(backupEnding, '') ?? '';
  const name = firstMatch(segments, secrets) ?? firstMatch([...segments.slice(0, -1), copied], secrets);
  return name === undefined ? undefined : `${name} holds keys or credentials`;
}

/**
 * The names that say what a path holds. In a worktree that Lathe made, its own directory says nothing: nobody obeys what
 * is there, and `Workspace` guards the directory against other sessions.
 */
function judgedNames(realPath: string): string[] {
  const segments = foldPath(realPath);
  const at = segments.findIndex((name, index) => name === '.lathe' && segments[index + 1] === 'worktrees');
  return at < 0 || segments.length <= at + 3 ? segments : ['.', ...segments.slice(at + 3)];
}

/** Endings of backup copies: `/etc/shadow-`, `.netrc~`. */
const backupEnding = /(?:[-~]|\.(?:bak|old|orig|save|swp|\d+))$/;

/**
 * Git's own data under any name: a bare repository, a separate git directory, a submodule's, a worktree's. A file that
 * would turn its directory into one counts too, or a write could complete a planted repository.
 */
export function gitDirectoryOf(realPath: string): string | undefined {
  let name = basename(realPath);
  for (let directory = dirname(realPath); directory !== dirname(directory); directory = dirname(directory)) {
    const has = (wanted: string) => name === wanted || exists(join(directory, wanted));
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
      return `${directory} is a git directory, whose configuration and hooks git executes`;
    name = basename(directory);
  }
  return undefined;
}

const exists = (path: string) => attempt(() => lstatSync(osPath(path), { throwIfNoEntry: false })) !== undefined;

/**
 * A path as a case-insensitive, Unicode-folding file system sees it: full-width letters, ignorable characters, trailing
 * dots and spaces, NTFS streams and short names all lead to the same file somewhere.
 */
export function foldPath(path: string): string[] {
  return foldLetters(path)
    .split(/[\\/]/)
    .map((segment) => (/[:~]|[. ]$/.test(segment) ? foldSegment(segment) : segment));
}

function foldSegment(segment: string): string {
  const name = segment.replace(/:.*$/s, '').replace(/(?<![. ])[. ]+$/, '');
  return /^git~\d+$/.test(name) ? '.git' : name;
}

function foldLetters(path: string): string {
  // Nothing but the case of these letters can be folded, and most paths have no others.
  if (/^[ -[\]-~]*$/.test(path)) return path.toLowerCase();
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}|\\x(?:E2\\x80\\x[89A][0-9A-F]|EF\\xBB\\xBF)/gu, '')
    .toLowerCase()
    .normalize('NFKC');
}

/** The last segment of a path, folded in the same way. */
export function foldName(path: string): string {
  return foldPath(path).at(-1) ?? path;
}

/** By their first segment, because every listed file is tested. */
type Patterns = Map<string, Pattern[]>;

interface Pattern {
  source: string;
  segments: RegExp[];
}

const anySegment = '*';

function compile(sources: readonly string[]): Patterns {
  const patterns: Patterns = new Map();
  for (const source of sources) {
    const [first = '', ...others] = source.split('/');
    const key = first.includes('*') ? anySegment : first;
    patterns.set(key, [...(patterns.get(key) ?? []), { source, segments: [first, ...others].map(segmentPattern) }]);
  }
  return patterns;
}

function segmentPattern(segment: string): RegExp {
  const literal = segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${literal}$`, 'u');
}

function firstMatch(segments: readonly string[], patterns: Patterns): string | undefined {
  for (const [at, segment] of segments.entries()) {
    // Only the first is the root; folding leaves others of names such as `...`.
    if (at > 0 && segment === '') continue;
    const candidates = [...(patterns.get(segment) ?? []), ...(patterns.get(anySegment) ?? [])];
    const hit = candidates.find(({ segments: wanted }) =>
      wanted.every((expected, index) => expected.test(segments[at + index] ?? '')),
    );
    if (hit !== undefined) return hit.source;
  }
  return undefined;
}

const executed = compile(executedNames);
const secrets = compile(secretNames);

/**
 * Why the content of a file of a project needs a person's approval, or a rule for exactly this file, before a model sees
 * it: it usually holds keys. The file must exist, and where the name alone does not tell, its content decides.
 */
export function sensitivityOf(realPath: string): string | undefined {
  const name = foldName(realPath.slice(realPath.lastIndexOf('/') + 1)).replace(copyEnding, '');
  if (!mayBeSensitive(name)) return undefined;
  const start = startOf(realPath);
  if (start === undefined || start === '') return undefined;
  const isSensitive = byName.test(name) || (isKeyFile.test(name) ? privateKey : token).test(start);
  return isSensitive ? `${name} may hold keys or passwords` : undefined;
}

/** A quick check of a name, which may be of an ordinary file all the same. */
export function mayBeSensitive(name: string): boolean {
  const folded = name.toLowerCase();
  return (byName.test(folded) || isKeyFile.test(folded) || isPackageSettings.test(folded)) && !isTemplate.test(folded);
}

/** Endings of backup copies: `id_rsa.bak`, `.env~`. */
const copyEnding = /(?:~|\.(?:bak|old|orig|save|swp))$/;

const byName = /^\.env(?:\..+|~)?$|^\.envrc$|\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/;
/** They describe the variables without their values. */
const isTemplate = /^\.env(?:\..+)?\.(?:example|sample|template|dist)$/;
const isKeyFile =
  /^id_[\w.-]+$|\.(?:pem|key)(?:\.\w+)?$|(?:credential|service[-_]?account|client[-_]secret)[\w.-]*\.json$/;
const isPackageSettings = /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc|netrc)(?:\.\w+)?$/;
const privateKey = /PRIVATE KEY|"private_key"\s*:|"client_secret"\s*:/;
/** Not one that is taken from a variable. */
const token = /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|password)["']?\s*[=:]\s*["']?(?!\$)[^\s"'$]/;

const maxBytes = 65_536;

/** The first bytes of a regular file; `undefined` if there is none. */
function startOf(path: string): string | undefined {
  try {
    const file = openSync(osPath(path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
    try {
      if (!fstatSync(file).isFile()) return undefined;
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, maxBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
