/** The JSON of a request body. Half a surrogate pair in the history would make a provider reject every later request. */
export function bodyText(body: object): string {
  const text = JSON.stringify(body);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value,
  );
}
