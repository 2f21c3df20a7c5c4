import { ToolError } from '../contract/errors.js';
import { linesOf } from './protocol.js';

/** Where a name is in a line, counted from 1, or first in the file; where the line begins if there is no name. */
export function symbolPosition(text: string, line: number | undefined, symbol: string | undefined) {
  const lines = linesOf(text);
  const [first, end] = line === undefined ? [0, lines.length] : [line - 1, line];
  for (const [index, content] of lines.slice(first, end).entries()) {
    const character = symbol === undefined ? content.search(/\S|$/) : columnOf(content, symbol);
    if (character !== -1) return { line: first + index, character };
  }
  const where = line === undefined ? 'the file' : `line ${line}`;
  throw new ToolError('invalid_tool_params', symbol ? `${symbol} is not in ${where}.` : `There is no line ${line}.`);
}

/** The first place where `symbol` is not a part of a longer name; of a dotted one, its last part. */
function columnOf(line: string, symbol: string): number {
  const isName = /[\w$]/;
  for (let at = line.indexOf(symbol); at !== -1; at = line.indexOf(symbol, at + 1)) {
    const [before = '', after = ''] = [line[at - 1], line[at + symbol.length]];
    if (!isName.test(before) && !isName.test(after)) return at + symbol.lastIndexOf('.') + 1;
  }
  return -1;
}
