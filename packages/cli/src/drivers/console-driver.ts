import type { AgentEvent } from '@lathe/agent';
import type { Lathe } from '@lathe/core';
import { completeCall } from '../completion/complete-call.js';
import type { Completion } from '../completion/completions.js';
import type { Driver } from './driver.js';
import { callEvents, typedByPerson } from './run-calls.js';

/** Input without a model: `tool {"json": "parameters"}`, `tool key=value …`, `!command`. The same steps, the same questions. */
export class ConsoleDriver implements Driver {
  readonly name = 'console (no model)';
  readonly placeholder = 'Call a tool: list_directory path=/tmp   Tab completes, / lists commands.';
  readonly #lathe: Lathe;

  constructor(lathe: Lathe) {
    this.#lathe = lathe;
  }

  async *submit(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    if (input.startsWith('!')) {
      const call = { name: 'run_shell_command', args: { command: input.slice(1).trim() } };
      yield* callEvents(this.#lathe, [call], signal, typedByPerson);
      return;
    }
    const [name, rest = ''] = splitOnce(input.trim());
    const args = parseParameters(rest);
    if (typeof args === 'string') {
      yield { type: 'notice', level: 'warning', message: args };
      return;
    }
    const [outcome] = yield* callEvents(this.#lathe, [{ name, args }], signal);
    if (outcome?.status === 'success' && isSilent(outcome.returnDisplay))
      yield { type: 'message-add', message: { role: 'model', parts: fenced(outcome.llmContent) } };
  }

  async *prompt(): AsyncGenerator<AgentEvent> {
    yield {
      type: 'notice',
      level: 'warning',
      message: 'That needs a model, and this is the console; start lathe again to choose one.',
    };
  }

  complete(text: string, cursor: number): Completion | undefined {
    return completeCall(text.slice(0, cursor), this.#lathe.registry.getAllTools());
  }

  async *compact(): AsyncGenerator<AgentEvent> {
    yield { type: 'notice', level: 'info', message: 'There is no conversation to shorten.' };
  }

  clear(): void {}
}

function splitOnce(input: string): [string, string | undefined] {
  const match = /^(\S+)(?:\s+([\s\S]*))?$/.exec(input);
  return [match?.[1] ?? input, match?.[2] ?? (/\s$/.test(input) ? '' : undefined)];
}

/** JSON, or `key=value` pairs whose values are JSON where they look like it and text otherwise; a sentence when neither. */
export function parseParameters(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {};
  if (text.startsWith('{')) {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === 'object' && value !== null ? { ...value } : 'The parameters must be a JSON object.';
    } catch (error) {
      return `The parameters are not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  const pairs = text.match(/[^\s=]+=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g) ?? [];
  if (pairs.join(' ').length < text.trim().replace(/\s+/g, ' ').length)
    return 'Give the parameters as key=value pairs or as one JSON object.';
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

/** Some tools show a person less than they tell a model; in the console the person is the one who asked. */
function isSilent(display: unknown): boolean {
  return typeof display === 'string';
}

function fenced(content: unknown): { text: string }[] {
  const list = Array.isArray(content) ? content : [content];
  const text = list.map((part: unknown) => (typeof part === 'string' ? part : '[media]')).join('');
  return [{ text: `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\`` }];
}
