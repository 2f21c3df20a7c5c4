import { isUtf8 } from 'node:buffer';

const plainRule = ruleOf('[A-Za-z0-9._]');
/** When case is ignored, git takes a capital letter alone in a set for nothing, and ripgrep for both letters. */
const plainRuleInAnyCase = ruleOf(`[a-z0-9._]|${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('').map(inBothCases).join('|')}`);

function ruleOf(membersOfSet: string): RegExp {
  const set = String.raw`\[(?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|${membersOfSet})+\]`;
  const part = String.raw`(?:[\w.+~@,=:;%#$&'"()<>|^-]|\x20(?=[^\x20/])|\*(?!\*)|\?|\\[#!]|${set})+`;
  return new RegExp(String.raw`^!?(?:/?\*\*/?|(?:/|\*\*/)?(?!\x20)${part}(?:/(?:${part}|\*\*))*/?)\x20*$`);
}

/** Of a file with very many rules ripgrep can make nothing, and then uses none of them. */
const maxPlainBytes = 16 << 10;

function inBothCases(letter: string): string {
  return letter + letter.toLowerCase();
}

/**
 * Whether an ignore file, with one character per byte, has none but the rules that nearly all of them consist of, which
 * surely mean the same to git and to ripgrep: names, wildcards and simple sets, in ASCII.
 */
export function hasOnlyPlainRules(text: string, { ignoresCase = false } = {}): boolean {
  if (text.length > maxPlainBytes) return false;
  // Ripgrep stops reading where something is no text, be it in a comment.
  const isText = !/[\x80-\xff]/.test(text) || isUtf8(Buffer.from(text, 'latin1'));
  const plain = ignoresCase ? plainRuleInAnyCase : plainRule;
  return isText && linesOf(text).every((line) => plain.test(line) && hasRisingRanges(line));
}

function hasRisingRanges(rule: string): boolean {
  const ranges = (rule.match(/\[[^\]]+\]/g) ?? []).flatMap((set) => [...set.matchAll(/(\w)-(\w)/g)]);
  return ranges.every(([, first = '', last = '']) => first <= last);
}

const maxWildcardRules = 5000;

/**
 * Why an ignore file asks for too much. A rule with a wildcard is tried on every name, one without is looked up: beyond
 * so many the rules would take longer than all the rest.
 */
export function rulesProblem(text: string): string | undefined {
  if (text.length < maxWildcardRules) return undefined;
  const count = text.match(/^(?!#)[^*?[\\\n]*[*?[\\]/gm)?.length ?? 0;
  return count > maxWildcardRules ? `more than ${maxWildcardRules} rules with wildcards` : undefined;
}

export function hasNoRules(text: string): boolean {
  return linesOf(text).length === 0;
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
}
