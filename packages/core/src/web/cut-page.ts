/** The beginning of a text, at most `limit` characters, that ends where a paragraph does if one is near. */
export function cutAtParagraph(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const breaks = ['\n\n', '\n', ' '].map((separator) => text.lastIndexOf(separator, limit));
  const at = breaks.find((position) => position > limit / 2) ?? limit;
  const head = text.slice(0, isLowSurrogate(text, at) ? at - 1 : at);
  const fences = head.match(/^ {0,3}```/gm)?.length ?? 0;
  return fences % 2 === 0 ? head : `${head}\n\`\`\``;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
