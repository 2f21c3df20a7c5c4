/** How the temporary file of a write is called: hidden, and never taken for the user's own. */
export const tempPrefix = '.lathe-tmp-';
