import { type AgentEvent, type AgentLathe } from '@lathe/agent';
import { errorMessage } from '../command-line/error-message.js';
import type { Driver } from './driver.js';
import { runCalls, runTypedCommand } from './run-calls.js';

/** Input without a model: `tool {"json": "parameters"}`, `tool key=value …`, `!command`. Calls run through the same steps as a model's. */
export class ConsoleDriver implements Driver {
  readonly name = 'console (no model)';
  readonly placeholder = 'Call a tool: list_directory path=/tmp   Tab completes, / lists commands.';
  readonly #lathe: Pick<AgentLathe, 'openScheduler'>;

  constructor(lathe: Pick<AgentLathe, 'openScheduler'>) {
    this.#lathe = lathe;
  }

  async *submit(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    if (input.startsWith('!')) {
      yield* runTypedCommand(this.#lathe, input, signal);
      return;
    }
    const [name, rest = ''] = splitOnce(input.trim());
    const args = parseParameters(rest);
    if (typeof args === 'string') {
      yield { type: 'notice', level: 'warning', message: args };
      return;
    }
    const [outcome] = yield* runCalls(this.#lathe, [{ name, args }], signal);
    if (outcome?.status === 'success' && isSummary(outcome.returnDisplay))
      yield { type: 'message-add', message: { role: 'model', parts: fenced(outcome.llmContent) } };
  }

  async *prompt(): AsyncGenerator<AgentEvent> {
    yield {
      type: 'notice',
      level: 'warning',
      message: 'The console has no model. Start lathe again to choose one.',
    };
  }

  async *compact(): AsyncGenerator<AgentEvent> {
    yield { type: 'notice', level: 'info', message: 'There is no conversation to compact.' };
  }

  clear(): void {}
}

function splitOnce(input: string): [string, string | undefined] {
  const match = /^(\S+)(?:\s+([\s\S]*))?$/.exec(input);
  return [match?.[1] ?? input, match?.[2] ?? (/\s$/.test(input) ? '' : undefined)];
}

/** Parses JSON or `key=value` pairs with JSON or text values. Returns an error message for anything else. */
export function parseParameters(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {};
  if (text.startsWith('{')) {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === 'object' && value !== null ? { ...value } : 'The parameters must be a JSON object.';
    } catch (error) {
      return `The parameters are not valid JSON: ${errorMessage(error)}`;
    }
  }
  const pairs = text.match(/[^\s=]+=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g) ?? [];
  if (pairs.join(' ').length < text.trim().replace(/\s+/g, ' ').length)
    return 'Write the parameters as key=value pairs or as one JSON object.';
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), valueOf(pair.slice(pair.indexOf('=') + 1))]),
  );
}

function valueOf(text: string): unknown {
  if (/^'.*'$/s.test(text)) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Some tools show a person only a summary; in the console the person sees the full result. */
function isSummary(display: unknown): boolean {
  return typeof display === 'string';
}

function fenced(content: unknown): { text: string }[] {
  const list = Array.isArray(content) ? content : [content];
  const text = list.map((part: unknown) => (typeof part === 'string' ? part : '[media]')).join('');
  return [{ text: `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\`` }];
}
