import { type Decision, type GrantScope } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { Proposal } from './question-queue.js';

/** One way to answer a question. */
export interface Option {
  key: string;
  label: string;
  decide: () => void;
}

export interface OptionsInput {
  request: Proposal;
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor; the answer follows. Missing when there is none to open. */
  modify?: (() => void) | undefined;
  /** Everything is in sight, so that it can be answered for once and for all. */
  mayAlways: boolean;
  /** The settings of the project count: what is saved there would be heeded. */
  isTrusted: boolean;
  /** Lets the person say why not, where anybody hears it. */
  explain: (() => void) | undefined;
}

/** The answers to a question. The last one, which is chosen at first, says no. */
export function optionsOf({ request, answer, modify, mayAlways, isTrusted, explain }: OptionsInput): Option[] {
  const { choices = [], rules = [] } = request.confirmation;
  const always = (scope: GrantScope) => () => answer({ outcome: 'always', scope });
  const saved = rules.map((rule) => visibleText(rule)).join(', ');
  const yes: Option[] =
    choices.length > 0
      ? choices.map(({ id, label }, index) => ({
          key: String(index + 1),
          label: visibleText(label),
          decide: () => answer({ outcome: 'once', choice: id }),
        }))
      : [{ key: 'y', label: 'Yes, once', decide: () => answer({ outcome: 'once' }) }];
  const grants: Option[] = [
    { key: 's', label: `Yes, and always in this session: ${saved}`, decide: always('session') },
    ...(isTrusted ? [{ key: 'p', label: `Yes, and always in this project: ${saved}`, decide: always('project') }] : []),
    { key: 'u', label: `Yes, and always for me: ${saved}`, decide: always('user') },
  ];
  return [
    ...yes,
    ...(mayAlways && rules.length > 0 ? grants : []),
    ...(modify ? [{ key: 'e', label: 'Change it in an editor', decide: modify }] : []),
    ...(explain ? [{ key: 'm', label: 'No, and say why', decide: explain }] : []),
    { key: 'n', label: 'No (Esc)', decide: () => answer({ outcome: 'deny' }) },
  ];
}
