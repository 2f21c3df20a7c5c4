/** The name of a write's temporary file starts with this: hidden, and never a user's own file. */
export const tempPrefix = '.lathe-tmp-';
