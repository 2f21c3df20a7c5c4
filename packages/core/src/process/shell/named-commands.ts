import type { Judgement } from '../programs/judge-command.js';
import { isNamedWrapper } from '../rules/propose-rules.js';
import { unknownPart } from './command-analysis.js';
import { type Argument, type ExpansionScope, expandWord } from './expand-word.js';
import type { Assignment } from './shell-syntax.js';
import { isHarmlessSetting } from './shell-variables.js';

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
