import type { Lathe, LatheOptions } from './lathe.js';

/**
 * Sets up the tool system: settings, policy, built-in tools, and the sources of others. Everything behind it is loaded
 * here and not before, so that importing the library to define a tool takes little time.
 */
export async function createLathe(options: LatheOptions): Promise<Lathe> {
  const { composeLathe } = await import('./compose-lathe.js');
  return composeLathe(options);
}
