import { type BytePath, fromBytePath, isShownAsIs } from './byte-path.js';
import { secretNames } from './protected-names.js';
import { foldPath, secrecyOf } from './protected-paths.js';

/** One of these is in every secret path that is not the system's: `.ssh`, `login data`, the `keychains` of a library. */
export const tellingNames: readonly string[] = [
  ...new Set(secretNames.filter((path) => !path.startsWith('/')).map(tellingName)),
];

function tellingName(path: string): string {
  const segments = path.split('/');
  return (path.startsWith('.') ? segments[0] : segments.at(-1)) ?? '';
}

// Asking about every path would cost more than the search.
const inSecrets = new RegExp(`(?:^|/)(?:${tellingNames.join('|').replaceAll('.', '\\.')})|^/(?:etc|proc|$)`, 'i');

/** Whether a file, or what is below a directory (it ends in a slash), may be secret because of this name or path. */
export function isSuspect(path: BytePath): boolean {
  return inSecrets.test(isShownAsIs(path) ? path : foldPath(fromBytePath(path)).join('/'));
}

/** Those of the files in a directory (it ends in a slash) that hold keys and the like. */
export function secretFiles(directory: BytePath, files: readonly string[]): string[] {
  const suspects = isSuspect(directory) ? files : files.filter(isSuspect);
  return suspects.filter((name) => secrecyOf(fromBytePath(directory + name)) !== undefined);
}

/**
 * Letters that are no other spelling of anything. In a set, ripgrep takes them for their bytes: here all that continue a
 * letter, and the first ones of those of Europe, the Near East, India, China and Korea.
 */
const innocentLetters = [
  ...Array.from({ length: 64 }, (_, index) => String.fromCodePoint(0xc0 + index)),
  '\u0100\u0140\u0180\u0200\u0380\u03C0\u0400\u0440\u0480\u05C0\u0600\u0640\u0680\u0900',
  '\u4E00\u5000\u6000\u7000\u8000\u9000\uAC00\uB000\uC000\uD000',
].join('');

// Begin like innocent ones.
const exceptions = ['\u017F', '\u061C', '\uA7F1', '\uA7F2', '\uA7F3', '\uA7F4']
  .map((letter) => `*${letter}*`)
  .join(',');

/**
 * A flag of ripgrep that leaves out every file `secretFiles` could mean, and some others: the telling names, what
 * other systems take for them, and whatever has a character in it that may spell one of them in another way.
 */
export const withoutSecretsFlag = withoutFlag(`{${tellingNames.join(',')}}`);

// One pattern for all: ripgrep prepares each one by itself, and logs it.
function withoutFlag(telling: string): string {
  return `--iglob=!{${telling},${telling}[!a-z0-9_]*,*[!]^-~ -[${innocentLetters}]*,${exceptions}}`;
}
