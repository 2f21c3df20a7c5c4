/** A whole call of the shell tool. */
export interface WholeCommand {
  command: string;
  /** Relative to the workspace, `.` for its top. */
  directory: string;
  isBackground: boolean;
}

/** The rule that allows this command and no other: `=npm test`, `=[packages/a] npm test`, `=&npm run dev`. */
export function exactRule({ command, directory, isBackground }: WholeCommand): string {
  const text = command.trim();
  // A shell command can begin with a bracket, but not with an ampersand.
  const place = directory === '.' && !text.startsWith('[') ? '' : `[${directory}] `;
  return `=${isBackground ? '&' : ''}${place}${text}`;
}

export const isExactRule = (spec: string): boolean => spec.startsWith('=');

/** The longest command that a rule repeats. */
export const maxExactLength = 5_000;

/** What is wrong with the text of such a rule, as a sentence; `undefined` if it is valid. */
export function checkExactRule(spec: string): string | undefined {
  if (spec.length < 2) return 'A rule that begins with = needs a command after it.';
  return /[^\P{Cc}\n\t]/u.test(spec) ? 'A command rule must not contain control characters.' : undefined;
}
