import type { Dir, Dirent, Stats } from 'node:fs';

/**
 * One object of each kind that a search makes by the thousand. V8 compiles code for kinds of objects and drops it when
 * the last object of a kind is collected, as in any pause of some seconds between two calls; compiling it anew made the
 * next search take a fifth longer. Nothing that grows with a tree or its rules may hang on these.
 */
export const keptShapes: {
  directory?: Dir;
  entry?: Dirent | undefined;
  stat?: Stats | undefined;
  walk?: object;
  search?: object;
} = {};
