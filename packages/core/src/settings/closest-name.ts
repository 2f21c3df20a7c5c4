import { closestNames } from '../text/closest-names.js';

/** The known name that was most likely meant, or `undefined` when none is close. */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const within = name.length < 5 ? 1 : Math.min(3, Math.floor(name.length / 4) + 1);
  return closestNames(name, known, { count: 1, within })[0];
}
