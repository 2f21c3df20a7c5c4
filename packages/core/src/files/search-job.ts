import type { BytePath } from './byte-path.js';
import type { FileGlob } from './file-glob.js';
import type { FoundLines } from './found-lines.js';
import type { KnownTrees } from './known-trees.js';
import { outputFlags } from './rg-output.js';
import type { Ripgrep } from './ripgrep.js';
import type { Visibility } from './visibility.js';

export interface TextSearch extends Visibility {
  /** In ripgrep's dialect. */
  pattern: string;
  /** `smart`: letters match in any case unless the pattern has a capital one. */
  letters: 'smart' | 'exact' | 'any';
  /** Lines shown before and after each match. */
  context: number;
  /** A real path, and what it leads to. */
  path: BytePath;
  kind: 'file' | 'directory';
  /** Which files to search, seen from `path`; a pattern without a slash holds at any depth. */
  glob?: string | undefined;
  /** Matching lines returned. */
  limit: number;
  /** Which directories hold our own state, when there are such in `path`. */
  isOwnState?: ((directory: string) => boolean) | undefined;
  /** Trees that were walked before. */
  known?: KnownTrees;
  timeoutMs: number;
  signal: AbortSignal;
}

/** A search under way. */
export interface SearchJob {
  ripgrep: Ripgrep;
  options: TextSearch;
  glob: FileGlob | undefined;
  /** The place is one of secrets, and was named. */
  isSecretPlace: boolean;
  /** Aborted by the caller, by time, and when enough is found. */
  signal: AbortSignal;
  found: FoundLines;
}

/** How ripgrep is to search and print, whatever it searches. */
export function searchFlags({ options: { pattern, context, letters }, found }: SearchJob): string[] {
  return [
    ...outputFlags,
    ...(context > 0 ? [`--context=${context}`] : []),
    { smart: '--smart-case', exact: '--case-sensitive', any: '--ignore-case' }[letters],
    ...(isAboutLineEnds(pattern) ? ['--crlf'] : []),
    `--max-count=${found.maxPerFile}`,
  ];
}

/** `$` means the end of a line as it is shown; who names the carriage return, in whatever spelling, wants to see it. */
function isAboutLineEnds(pattern: string): boolean {
  return pattern.includes('$') && !/\r|\\[rxuU]/.test(pattern);
}
