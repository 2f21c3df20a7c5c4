import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sanitizeDescription } from '../text/sanitize-definition.js';

export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** The path of a file URI, however a server spells it; `undefined` for a URI that is not a file. */
export function pathOf(uri: unknown): string | undefined {
  try {
    return typeof uri === 'string' && uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** Directories as the protocol names them. */
export function foldersOf(roots: readonly string[]): { uri: string; name: string }[] {
  return roots.map((root) => ({ uri: uriOf(root), name: basename(root) || root }));
}

/** The lines of a text as the protocol counts them. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** A text of a server on one line, with invisible characters made visible. */
export function oneLine(text: string, limit: number): string {
  return sanitizeDescription(text.slice(0, 4 * limit).replaceAll(/\s+/g, ' '), limit).trim();
}

/** Where something is, counted from 0; `undefined` if that is no place. */
export function positionOf(value: unknown): { line: number; character: number } | undefined {
  const [line, character] = [Number(field(value, 'line')), Number(field(value, 'character'))];
  return Number.isSafeInteger(line) && Number.isSafeInteger(character) ? { line, character } : undefined;
}

/** A member of something that came from outside. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
