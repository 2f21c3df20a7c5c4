import type { ModelRequest } from '../model.js';
import { isCall, type PairedCall, resultAsText, type Turn } from './paired-history.js';

/**
 * Tools for a model whose server does not support them: declared in the instructions, called and answered in the
 * notation that Hermes and Qwen models were trained on. `readTextCalls` reads the calls.
 */
export function withTextTools({ system, tools }: ModelRequest): string {
  const declarations = tools.map(({ name, description, parametersJsonSchema: parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return [
    system,
    '# Tools',
    ...declarations,
    'To use a tool, answer with nothing but this, once per call, and wait for the result:',
    '<tool_call>{"name": "…", "arguments": {…}}</tool_call>',
  ].join('\n');
}

export function assistantText({ items }: Extract<Turn, { role: 'model' }>): string {
  return items
    .map((item) => {
      if (!isCall(item)) return item.thought ? '' : (item.text ?? '');
      return `<tool_call>${JSON.stringify({ name: item.name, arguments: item.args })}</tool_call>`;
    })
    .join('');
}

/** A result cannot fake its own end, or a call. */
export function resultText({ name, response }: PairedCall): string {
  const text = resultAsText(response).replaceAll(/<(\/?tool_(?:response|call))/g, '<\u200b$1');
  return `<tool_response name="${name}">\n${text}\n</tool_response>`;
}
