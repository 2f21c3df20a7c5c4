/** A paste longer than this is shown as a mark. */
const maxLines = 10;
const maxCharacters = 2_000;

/** The mark of a long paste at the end of a text: it is deleted and passed over as one character. */
export const markAtEnd = /\[paste #\d+ [\d,]+ (?:lines|characters)\]$/;
export const markAtStart = /^\[paste #\d+ [\d,]+ (?:lines|characters)\]/;

/** Long pastes, which the prompt shows as `[paste #1 10,000 lines]` and sends in full. */
export class Pastes {
  readonly #texts: string[] = [];

  /** What stands for the text in the prompt: the text itself when it is short. */
  keep(text: string): string {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    if (lines <= maxLines && text.length <= maxCharacters) return text;
    const number = this.#texts.push(text);
    const size = lines > 1 ? `${lines.toLocaleString('en')} lines` : `${text.length.toLocaleString('en')} characters`;
    return `[paste #${number} ${size}]`;
  }

  /** The text with every paste in its place. */
  expand(text: string): string {
    return text.replace(
      /\[paste #(\d+) [\d,]+ (?:lines|characters)\]/g,
      (mark, number: string) => this.#texts[Number(number) - 1] ?? mark,
    );
  }
}
