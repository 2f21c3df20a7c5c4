const call = (value: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"todo_write","arguments":{"todos":${value}}}}`;

/** Messages on one line that would cost far more than their length, and the error for each. */
export const bombs: readonly [what: string, message: string, problem: string][] = [
  ['sixteen million open brackets', call('['.repeat(16_000_000)), 'nested'],
  ['a million levels', call('['.repeat(1_000_000) + ']'.repeat(1_000_000)), 'nested'],
  ['a million levels of objects', call('{"a":'.repeat(1_000_000) + '0' + '}'.repeat(1_000_000)), 'nested'],
  ['five million lists', call(`[${'[],'.repeat(5_000_000)}[]]`), 'values'],
  ['three million numbers', call(`[${'0,'.repeat(3_000_000)}0]`), 'values'],
];
