/** Text as a Markdown code block, which shows it as it is. The fence is longer than any in the text. */
export function fenced(text: string, language = ''): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
