import { basename } from 'node:path';
import { matchCommandRule } from '../process/rules/command-rule.js';
import type { Reading } from './reading.js';

/**
 * Read narrowly, a rule holds when it certainly does. Read widely, also when it may, and a program matches by its last
 * name too, so that denying `curl` also denies `/usr/bin/curl`.
 */
export function matchesCommand(spec: string, words: readonly string[], reading: Reading): boolean {
  if (reading === 'narrow') return matchCommandRule(spec, words) === 'yes';
  const [program = '', ...rest] = words;
  return matchCommandRule(spec, words) !== 'no' || matchCommandRule(spec, [basename(program), ...rest]) !== 'no';
}
