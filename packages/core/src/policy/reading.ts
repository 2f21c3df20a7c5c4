/** How a rule is matched: `wide` for rules that forbid, `narrow` for rules that permit. */
export type Reading = 'wide' | 'narrow';
