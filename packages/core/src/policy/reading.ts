/** How a rule is read: a rule that forbids is read widely, one that permits narrowly. */
export type Reading = 'wide' | 'narrow';
