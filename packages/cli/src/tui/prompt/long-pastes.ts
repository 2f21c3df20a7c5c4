/** A longer paste is shown as a placeholder. */
const maxLines = 10;
const maxCharacters = 2_000;

/** The editor deletes and skips a placeholder like one character. */
export const placeholderAtEnd = /\[paste #\d+ [\d,]+ (?:lines|characters)\]$/;
export const placeholderAtStart = /^\[paste #\d+ [\d,]+ (?:lines|characters)\]/;

/** Long pastes. The prompt shows them as `[paste #1 10,000 lines]` and sends them in full. */
export class LongPastes {
  readonly #texts: string[] = [];

  /** Returns the placeholder for a long text, or a short text itself. */
  add(text: string): string {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    if (lines <= maxLines && text.length <= maxCharacters) return text;
    const number = this.#texts.push(text);
    const size = lines > 1 ? `${lines.toLocaleString('en')} lines` : `${text.length.toLocaleString('en')} characters`;
    return `[paste #${number} ${size}]`;
  }

  /** Replaces every placeholder with its paste. */
  expand(text: string): string {
    return text.replace(
      /\[paste #(\d+) [\d,]+ (?:lines|characters)\]/g,
      (placeholder, number: string) => this.#texts[Number(number) - 1] ?? placeholder,
    );
  }
}
