import { basename, dirname } from 'node:path';
import type { Argument } from '../shell/expand-word.js';
import { knownChanges } from './changing-programs.js';
import type { Effects } from './read-arguments.js';
import { readOnlyJudge } from './read-only-programs.js';
import { unwrap } from './unwrap.js';
import type { Unwrapped } from './wrappers.js';

/** What the words of one simple command say about it. */
export interface Judgement extends Effects {
  /** No rule may allow it: it changes the shell itself, and so the meaning of later commands. */
  isUnallowable?: boolean;
  /** What it runs. */
  inner?: Unwrapped;
}

/** Builtins that run text, or change the state in which later commands run. */
const shellChangers = new Set(
  (
    '. source eval exec export alias unalias trap set unset shopt enable declare typeset local readonly read readarray mapfile ' +
    'let getopts hash bind builtin pushd popd dirs fc history complete compgen compopt disown suspend logout return ' +
    'break continue exit shift wait kill bg fg coproc caller'
  ).split(' '),
);
/** The ones among them that only affect control flow. */
const harmlessControl = new Set(['exit', 'return', 'break', 'continue', 'wait']);

/** Shell options that only make the shell stop earlier. */
const harmlessOptions = /^(-[eu]+|-[eu]*o (pipefail|errexit|nounset))( -[eu]+| -[eu]*o (pipefail|errexit|nounset))*$/;

export function judgeCommand(words: readonly Argument[], context: { path: string; input?: Argument }): Judgement {
  const [first, ...args] = words;
  if (!first) return {};
  if (!first.isKnown) return { why: 'the name of the program is only known when it runs', isUnallowable: true };
  const name = bareName(first.value, context.path);
  if (name === undefined) {
    const file = basename(first.value);
    // Whatever this program is, deny rules check what a program of its name would run.
    const inner = unwrap(file, args, context.input);
    return { ...knownChanges(file, args), why: `${first.value} is run by its path`, ...(inner && { inner }) };
  }
  if (name === 'set' && harmlessOptions.test(args.map(({ value }) => value).join(' '))) return {};
  if (harmlessControl.has(name) && args.every(({ value }) => /^\d{0,3}$/.test(value))) return {};
  const inner = unwrap(name, args, context.input);
  if (shellChangers.has(name)) {
    return { why: `${name} changes what later commands mean`, isUnallowable: true, ...(inner && { inner }) };
  }
  if (inner) return { ...knownChanges(name, args), ...judgeWrapper(name, inner), inner };
  return judgeProgram(name, args);
}

function judgeProgram(name: string, args: readonly Argument[]): Effects {
  const effects = readOnlyJudge(name)?.(args) ?? { why: 'it is not known to be read-only' };
  if (effects.why === undefined) return effects;
  const changes = knownChanges(name, args);
  const why = changes.usesNetwork ? `${name} uses the network` : `${name}: ${effects.why}`;
  return { ...effects, ...changes, reads: [...(effects.reads ?? []), ...(changes.reads ?? [])], why };
}

/** A wrapper that does something itself is judged like any other program, without its inner commands. */
function judgeWrapper(name: string, { isTransparent, own }: Unwrapped): Effects {
  if (!isTransparent) return { why: `${name} runs another command` };
  const effects = own && readOnlyJudge(name)?.(own);
  return effects ?? {};
}

/** The name of a program in the tables: a bare name, or a path in a directory that is also in PATH. */
function bareName(name: string, path: string): string | undefined {
  if (!name.includes('/')) return name;
  return path.split(':').includes(dirname(name)) ? basename(name) : undefined;
}
