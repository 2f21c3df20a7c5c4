import { hasHiddenText } from '../../text/visible-text.js';

/** A whole call of the shell tool. */
export interface WholeCommand {
  command: string;
  /** Relative to the top of the workspace, `.` for the top itself; absolute in other directories. */
  directory: string;
  isBackground: boolean;
}

/** The rule that allows this command and no other: `=npm test`, `=[packages/a] npm test`, `=&npm run dev`. */
export function exactRule({ command, directory, isBackground }: WholeCommand): string {
  const text = trimmed(command);
  // A shell command can begin with a bracket, but not with an ampersand.
  const place =
    directory === '.' && !text.startsWith('[') ? '' : `[${directory.replace(/[%\]\n]/g, encodeURIComponent)}] `;
  return `=${isBackground ? '&' : ''}${place}${text}`;
}

/** Without what a shell skips: to it, any other space is part of a name, and so is one after a backslash. */
function trimmed(command: string): string {
  let end = command.length;
  while (' \t\n'.includes(command.charAt(end - 1)) && end > 0 && command.charAt(end - 2) !== '\\') end--;
  return command.slice(0, end).replace(/^[ \t\n]+/, '');
}

export const isExactRule = (spec: string): boolean => spec.startsWith('=');

/** The longest command that a rule repeats. */
export const maxExactLength = 5_000;

/** What is wrong with the text of such a rule, as a sentence; `undefined` if it is valid. */
export function checkExactRule(spec: string): string | undefined {
  if (spec.length < 2) return 'A rule that begins with = needs a command after it.';
  return hasHiddenText(spec) || /[^\P{Zs} ]/u.test(spec)
    ? 'A command rule must not contain control characters, invisible characters or unusual spaces.'
    : undefined;
}
