import { basename, dirname } from 'node:path';
import type { Argument } from '../shell/expand-word.js';
import { knownChanges } from './changing-programs.js';
import { recordedContent } from './git-content.js';
import { nameSet } from './name-set.js';
import type { Effects } from './read-arguments.js';
import { readOnlyJudge } from './read-only-programs.js';
import { unwrap } from './unwrap.js';
import type { Unwrapped } from './wrappers.js';

/** What one simple command does, as far as its words tell. */
export interface Judgement extends Effects {
  /** No rule may allow it, because it changes the shell and so the meaning of later commands. */
  isUnallowable?: boolean;
  /** The commands that it runs. */
  inner?: Unwrapped;
}

/** Builtins that run text, or change the state in which later commands run. */
const shellChangers = nameSet(
  '. source eval exec export alias unalias trap set unset shopt enable declare typeset local readonly read readarray mapfile ' +
    'let getopts hash bind builtin pushd popd dirs fc history complete compgen compopt disown suspend logout return ' +
    'break continue exit shift wait kill bg fg coproc caller',
);
/** Those that only affect control flow. */
const harmlessControl = nameSet('exit return break continue wait');

/** Shell options that only make the shell stop earlier. */
const harmlessOptions = /^(-[eu]+|-[eu]*o (pipefail|errexit|nounset))( -[eu]+| -[eu]*o (pipefail|errexit|nounset))*$/;

export function judgeCommand(words: readonly Argument[], context: { path: string; input?: Argument }): Judgement {
  const [first, ...args] = words;
  if (!first) return {};
  if (!first.isKnown) return { why: 'the name of the program is only known when it runs', isUnallowable: true };
  const name = bareName(first.value, context.path);
  if (name === undefined) {
    const file = basename(first.value);
    // Deny rules check what a program of this name would run, even if this one is a different program.
    const inner = unwrap(file, args, context.input);
    const recorded = file === 'git' ? recordedContent(args) : [];
    return { ...knownChanges(file, args), recorded, why: `${first.value} is run by its path`, ...(inner && { inner }) };
  }
  if (name === 'set' && harmlessOptions.test(args.map(({ value }) => value).join(' '))) return {};
  if (harmlessControl.has(name) && args.every(({ value }) => /^\d{0,3}$/.test(value))) return {};
  const inner = unwrap(name, args, context.input);
  if (shellChangers.has(name)) {
    return { why: `${name} changes what later commands mean`, isUnallowable: true, ...(inner && { inner }) };
  }
  const recorded = name === 'git' ? { recorded: recordedContent(args) } : {};
  if (inner) return { ...knownChanges(name, args), ...judgeWrapper(name, inner), ...recorded, inner };
  return { ...judgeProgram(name, args), ...recorded };
}

function judgeProgram(name: string, args: readonly Argument[]): Effects {
  const effects = readOnlyJudge(name)?.(args) ?? { why: 'it is not known to be read-only' };
  if (effects.why === undefined) return effects;
  const changes = knownChanges(name, args);
  const why = changes.usesNetwork ? `${name} uses the network` : `${name}: ${effects.why}`;
  return { ...effects, ...changes, reads: [...(effects.reads ?? []), ...(changes.reads ?? [])], why };
}

/** What a wrapper does itself is judged like any other program, without its inner commands. */
function judgeWrapper(name: string, { isTransparent, own }: Unwrapped): Effects {
  if (!isTransparent) return { why: `${name} runs another command` };
  return (own && readOnlyJudge(name)?.(own)) ?? {};
}

/** The name of a program in the tables: given by itself, or by a path in a directory of PATH. */
function bareName(name: string, path: string): string | undefined {
  if (!name.includes('/')) return name;
  return path.split(':').includes(dirname(name)) ? basename(name) : undefined;
}
