import { basename } from 'node:path';
import { forNames, nameSet } from '../programs/name-set.js';
import { textFlags } from '../programs/wrappers.js';
import { substitutedPipe, unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';

/**
 * Why a rule for any arguments does not cover a command: an argument contains code, or names another program to run. What
 * the files of the project contain is what such a rule is for. Empty if no argument does.
 */
export function codeDoubts(words: readonly Argument[]): string[] {
  const [program = '', ...args] = words.map(({ value }) => value);
  // `python -m pytest` is pytest.
  const isModule = /^python[\d.]*$/.test(program) && args[0] === '-m';
  const name = isModule ? (args[1] ?? '') : basename(program);
  if (takesText.has(name)) return [];
  const flag = codeFlags.get(name);
  const isChecked = flag !== undefined || textFlags.has(name);
  const found = args.find(
    (word) =>
      isInline.test(word) ||
      flag?.test(word) === true ||
      downloads.get(name)?.test(word) === true ||
      (isChecked && mayBeFlag.test(word)),
  );
  if (found === undefined) return [];
  const shown = found.replaceAll(substitutedPipe, '<(…)').replaceAll(unknownPart, '…').slice(0, 100);
  return [`With ${shown}, ${name} may run another program.`];
}

/** They take text from a pipe, and no code. */
const takesText = nameSet('git gh curl wget kubectl tee');

/** Code in the command itself: from a pipe, or in the address of a module. */
const isInline = new RegExp(
  String.raw`/dev/(?:stdin|fd/)|/proc/(?:self|thread-self|\d+)/fd/|\bdata:[\w.+-]*/[\w.+-]*[;,]|${substitutedPipe.replace(/[()]/g, String.raw`\$&`)}`,
);

/** Known only at run time, perhaps a flag. */
const mayBeFlag = new RegExp(`^(?:-.*)?${unknownPart}`, 's');

/** A value that names no program: `V=1`. */
const plainValue = String.raw`(?:\d+|true|false|yes|no|on|off|[yn])`;

export const isPlainSetting = (word: string): boolean =>
  new RegExp(String.raw`^[A-Za-z_]\w*=${plainValue}$`).test(word);

const dotnetProperties = 'Configuration|Platform|TargetFramework|RuntimeIdentifier|Version\\w*|TreatWarningsAsErrors';

/** Arguments that contain code, or name another program. */
const codeFlags: ReadonlyMap<string, RegExp> = new Map([
  // Variables become parts of shell text.
  ...forNames(
    'make gmake',
    new RegExp(String.raw`^(?:-\w*E|--ev|-(?:f-)?$|--\w+=-$)|^[^-][^=]*=(?!${plainValue}$)`, 's'),
  ),
  ['just', /^(?:-c|--(?:c|shell|set))|^-(?:f-)?$|=-$|[^\w./:@=,+-]/],
  ['go', /^--?(?:ldflags|gccgoflags|compiler)(?:=|$)/],
  ['dotnet', new RegExp(`^(?:--?|/)p(?:roperty)?(?:$|[:=](?!(?:${dotnetProperties})=[\\w.-]*$))`, 'i')],
  ...forNames('gradle gradlew', /(?:jvmargs|java\.home)=/),
  ...forNames('docker podman', /^(?:-o|--output)/),
  ['bun', /^(?:-[ep]|--(?:eval|print|shell))(?:=|$)/],
  ['pytest', /^--tx/],
  ['vitest', /execArgv/i],
  ['mocha', /^(?:-n|--node-option)/],
  ['ava', /^--node-arguments/],
]);

/** Flags with which a program downloads and runs another one. */
const downloads: ReadonlyMap<string, RegExp> = new Map([['eslint', /^--(?:init|mcp)$/]]);
