import { visibleText } from '@lathe/core/host';

const saveTitle = '\u001b[22;0t';
/** Gives back the title that the terminal had before. */
export const restoreTitle = '\u001b[23;0t';

/** Sets the title of the window; the first time, the old title is kept. */
export const setTitle = (text: string, { isFirst = false } = {}): string =>
  `${isFirst ? saveTitle : ''}\u001b]0;${plain(text)}\u0007`;

/** Rings the bell and asks the terminal for a notification on the desktop. */
export const notification = (text: string): string => `\u0007\u001b]9;${plain(text)}\u0007`;

/** Nothing in it can end the sequence early. */
function plain(text: string): string {
  return visibleText(text)
    .replaceAll(/[\n\t]/g, ' ')
    .slice(0, 100);
}
