import type { Judgement } from '../programs/judge-command.js';
import { isNamedWrapper } from '../rules/propose-rules.js';
import { unknownPart } from './command-analysis.js';
import { type Argument, type ExpansionScope, expandWord } from './expand-word.js';
import type { Assignment } from './shell-syntax.js';

export interface NamingScope extends ExpansionScope {
  /** Inside a wrapper or script: only for deny and ask rules. */
  isHidden: boolean;
  /** Inside a wrapper that a rule can name together with this. */
  isNamed: boolean;
}

/** What assignments before a command change. */
interface BehindAssignments {
  scope: Pick<NamingScope, 'isHidden' | 'isNamed'>;
  options: {
    /** Why nothing is proven about the command. */
    poison?: string;
    /** The command with its assignments, as words that a rule can name. */
    named?: string[];
  };
}

export function behindAssignments(
  assignments: readonly Assignment[],
  words: readonly Argument[],
  scope: NamingScope,
): BehindAssignments {
  const poison = assignments.find((assignment) => !isHarmlessSetting(assignment, scope));
  const named = withAssignments(assignments, words, scope);
  return {
    scope: { isHidden: true, isNamed: scope.isNamed || named !== undefined },
    options: {
      ...(poison && { poison: `${poison.name} is set for it, which may change what it does` }),
      ...(named && { named }),
    },
  };
}

/** `VAR=1 command` as words that a rule can name; `undefined` if no rule is offered for it. */
function withAssignments(
  assignments: readonly Assignment[],
  words: readonly Argument[],
  scope: NamingScope,
): string[] | undefined {
  const settings = assignments.map(({ name, isPlain, words: values }) => {
    const expanded = values.flatMap((value) => expandWord(value, scope));
    const isKnown = isPlain && expanded.length <= 1 && expanded.every((value) => value.isKnown);
    return isKnown ? `${name}=${expanded[0]?.value ?? ''}` : unknownPart;
  });
  const all = [...settings, ...words.map(({ value }) => value)];
  return !scope.isHidden && isNamedWrapper(all) ? all : undefined;
}

/** Whether a rule can name this command together with what it runs. */
export function namesInner(
  { why, inner }: Judgement,
  words: readonly string[],
  { isNamed, isHidden }: NamingScope,
): boolean {
  const asksItself = why !== undefined || inner?.scripts.length === 0;
  return asksItself && (isNamed || !isHidden) && isNamedWrapper(words);
}

/** A variable that only this shell uses: lower case, and none of the few that programs use. */
export function isPlainVariable(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !/proxy|^_$/.test(name);
}

const locale = /^(C|POSIX|C\.UTF-8|en_US\.UTF-8)$/;
const harmlessSettings: ReadonlyMap<string, RegExp> = new Map([
  ['LC_ALL', locale],
  ['LANG', locale],
  ['TZ', /^[A-Z]{3,4}$/],
  ['NO_COLOR', /^1$/],
  ['FORCE_COLOR', /^0$/],
  ['CI', /^(1|true)$/],
  ['TERM', /^(dumb|xterm)$/],
  ['PAGER', /^cat$/],
  ['GIT_PAGER', /^cat$/],
  ['GIT_OPTIONAL_LOCKS', /^0$/],
  ['COLUMNS', /^\d+$/],
]);

/** An assignment before a command that does not make any program do more than without it. */
function isHarmlessSetting({ name, isPlain, words }: Assignment, scope: ExpansionScope): boolean {
  const allowed = harmlessSettings.get(name);
  const [value, ...others] = words.flatMap((word) => expandWord(word, scope));
  // An empty value counts too: `PATH= ls` runs a program in the current directory.
  if (!isPlain || allowed === undefined || value === undefined || others.length > 0) return false;
  return value.isKnown && allowed.test(value.value);
}
