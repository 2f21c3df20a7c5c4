import { type CallRecord, type Message, recordOfCall, type TurnRecord } from '@lathe/agent';
import type { NumberedEvent } from '@lathe/agent/client';
import { type Display, type FileDiff, type FunctionCall, type FunctionResponse, type Part, textOf } from '@lathe/core';
import { responseText, visibleText } from '@lathe/core/host';

/** One step of a session. All text is sanitized. */
export interface PageRow {
  /** Calls are grouped by what they do. */
  kind: 'prompt' | 'answer' | 'note' | 'read' | 'change' | 'command' | 'page' | 'other';
  title: string;
  /** Of a call; empty for other steps. */
  status: string;
  /** ISO 8601; empty if unknown. */
  time: string;
  durationMs: number;
  isRunning?: boolean;
  /** What the request of an answer cost. */
  spent?: Pick<TurnRecord, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'> & { cost?: number | undefined };
  /** What else is known, with labels. */
  facts: [string, string][];
  sections: { label: string; type: 'text' | 'diff' | 'image'; text: string }[];
}

const kinds = new Map<string, PageRow['kind']>([
  ...['read_file', 'read_many_files', 'list_directory', 'glob', 'grep_search'].map((name) => [name, 'read'] as const),
  ...['edit', 'write_file', 'save_memory'].map((name) => [name, 'change'] as const),
  ...['web_fetch', 'web_search'].map((name) => [name, 'page'] as const),
  ['run_shell_command', 'command'],
]);

const maxText = 100_000;
const maxTitle = 200;
const maxImage = 4_000_000;

/** Makes rows from the messages and records of a transcript in Node, and from those and live events in the page. */
export class PageRows {
  readonly rows: PageRow[];
  readonly #onChange: (row?: PageRow) => void;
  readonly #calls = new Map<string, PageRow>();
  /** The answer of the turn in progress. */
  #turn: PageRow | undefined;

  constructor(rows: PageRow[], onChange: (row?: PageRow) => void) {
    this.rows = rows;
    this.#onChange = onChange;
  }

  /** Shows only these messages. */
  reset(messages: readonly Pick<Message, 'role' | 'parts'>[]): void {
    this.rows.length = 0;
    this.#calls.clear();
    this.#turn = undefined;
    for (const message of messages) this.addMessage(message);
    this.#onChange();
  }

  /** `title`: what the person typed, if that is only a part of the message. */
  addMessage({ role, parts }: Pick<Message, 'role' | 'parts'>, time = '', title = ''): PageRow | undefined {
    if (role === 'tool') {
      for (const { functionResponse } of parts) if (functionResponse) this.#endOutput(functionResponse);
      return undefined;
    }
    const text = textOf(parts.filter(({ thought }) => !thought));
    const isPrompt = role === 'user';
    const row = isPrompt ? this.#add('prompt', time) : (this.#turn ?? this.#add('answer', time));
    const requested = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const count = `requests ${requested.length} ${requested.length === 1 ? 'call' : 'calls'}`;
    const shown = titleOf(title || text) || (isPrompt ? '' : count);
    Object.assign(row, { isRunning: undefined, title: shown, sections: [] });
    this.#put(row, 'Thoughts', textOf(parts.filter(({ thought }) => thought)));
    this.#put(row, isPrompt ? 'Prompt' : 'Answer', text);
    row.sections.push(...imagesOf(parts));
    for (const call of requested) this.#call(call);
    return row;
  }

  endCall({ callId, time, durationMs, status, description, decision, diff }: CallRecord, name: string): void {
    const row = this.#call({ id: callId, name }, description);
    const isRefused = decision === 'refused' || decision === 'denied';
    Object.assign(row, { time, durationMs, isRunning: undefined, status: visibleText(isRefused ? 'refused' : status) });
    row.facts = [['Status', row.status]];
    if (decision !== 'unjudged') row.facts.push(['Decision', decision]);
    this.#put(row, 'Change', diff, 'diff');
  }

  addNote(text: string, time = ''): void {
    const row = this.#add('note', time);
    row.title = titleOf(text);
    this.#put(row, 'Note', text);
  }

  apply(event: NumberedEvent): void {
    const time = event.time === undefined ? '' : new Date(event.time).toISOString();
    // The server only names an event that is too large to send.
    if ('isTooLarge' in event) return this.addNote(`Too large to show: ${event.type}`, time);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each step is stored under the type that it takes
    const step = this.#steps[event.type] as ((event: NumberedEvent, time: string) => void) | undefined;
    step?.(event, time);
  }

  /** What surrounds the timeline shows the other events. */
  readonly #steps: { [T in NumberedEvent['type']]?: (event: EventOf<T>, time: string) => void } = {
    'turn-start': (_, time) => {
      this.#turn = Object.assign(this.#add('answer', time), { title: '…', isRunning: true });
    },
    'text-delta': ({ text }) => this.#addDelta('Answer', text),
    'reasoning-delta': ({ text }) => this.#addDelta('Thoughts', text),
    retry: ({ reason }, time) => {
      if (this.#turn) this.#turn.sections = [];
      this.addNote(`The request is repeated: ${reason}`, time);
    },
    'message-add': ({ message }, time) => {
      if (this.#turn?.isRunning && message.role === 'model')
        this.#turn.durationMs = Date.parse(time) - Date.parse(this.#turn.time);
      this.addMessage(message, time);
    },
    'call-update': ({ callId: id, name, args, description }, time) => {
      const row = this.#call({ id, name, args: { ...Object(args) } }, description);
      Object.assign(row, { time: row.time || time, isRunning: true, status: 'running' });
    },
    'call-output': ({ callId, display }) => this.#putDisplay(callId, display),
    'call-end': ({ outcome }) => {
      this.endCall(recordOfCall(outcome), outcome.name);
      this.#putDisplay(outcome.callId, outcome.returnDisplay);
    },
    usage: ({ usage: { request, requestCost: cost } }) => {
      if (this.#turn) this.#turn.spent = { ...request, cost };
      this.#onChange(this.#turn);
    },
    notice: ({ message }, time) => this.addNote(message, time),
    'compaction-end': ({ compaction: { tokensBefore, tokensAfter } }, time) =>
      this.addNote(`The history was shortened from ${tokensBefore} to ${tokensAfter} tokens.`, time),
    'subagent-event': ({ callId, event }) => {
      const row = this.#calls.get(callId);
      if (!row || event.type !== 'call-end') return;
      const { name, description, status } = event.outcome;
      const known = row.sections.find(({ label }) => label === 'Subagent')?.text ?? '';
      this.#put(row, 'Subagent', `${known}${name} ${description}: ${status}\n`);
    },
    'steer-end': ({ text, isDelivered }, time) => isDelivered || this.addNote(`Not delivered: ${text}`, time),
    'prompt-end': ({ end: { reason, message = reason } }, time) => {
      for (const row of this.rows) row.isRunning = false;
      for (const row of this.#calls.values()) if (row.status === 'running') row.status = 'cancelled';
      if (reason !== 'done') this.addNote(message, time);
    },
  };

  #add(kind: PageRow['kind'], time: string): PageRow {
    const row: PageRow = { kind, title: '', status: '', time, durationMs: 0, facts: [], sections: [] };
    this.rows.push(row);
    this.#onChange(row);
    return row;
  }

  #call({ id = '', name = '', args }: FunctionCall, description = ''): PageRow {
    const row = this.#calls.get(id) ?? this.#add(kinds.get(name) ?? 'other', '');
    if (!this.#calls.has(id)) Object.assign(row, { status: 'not finished', title: titleOf(name) });
    this.#calls.set(id, row);
    if (description !== '') row.title = titleOf(description === name ? name : `${name} ${description}`);
    if (args) this.#put(row, 'Parameters', formatParameters(args));
    return row;
  }

  #endOutput(answer: FunctionResponse): void {
    const row = this.#calls.get(answer.id ?? '');
    if (!row) return;
    const isError = answer.response?.['error'] !== undefined;
    if (row.status === 'not finished') row.status = isError ? 'error' : 'success';
    row.sections = row.sections.filter(({ label }) => label !== 'Output');
    this.#put(row, isError ? 'Error' : 'Output', responseText(answer));
    row.sections.push(...imagesOf(answer.parts ?? []));
  }

  #addDelta(label: 'Answer' | 'Thoughts', text: string): void {
    const row = this.#turn;
    const known = row?.sections.find((each) => each.label === label);
    if (known && known.text.length < maxText) known.text += visible(text);
    if (!row) return;
    if (!known) this.#put(row, label, text);
    if (label === 'Answer') row.title = titleOf(known?.text ?? text);
    this.#onChange(row);
  }

  /** What a tool shows of its work. */
  #putDisplay(callId: string, display: Display): void {
    const row = this.#calls.get(callId);
    if (!row) return;
    if (typeof display === 'string') return this.#put(row, 'Output', display);
    if (display.type === 'file_diff') return this.#put(row, 'Change', display.fileDiff, 'diff');
    this.#put(row, 'Output', textOfDisplay(display));
  }

  /** Adds a section or replaces its text. A change comes first and what it led to second, before long parameters. */
  #put(row: PageRow, label: string, text: string, type: 'text' | 'diff' = 'text'): void {
    const known = row.sections.find((each) => each.label === label);
    const hasChange = row.sections[0]?.type === 'diff';
    const place = type === 'diff' ? 0 : hasChange ? 1 : row.sections.length;
    if (known) known.text = visible(text);
    else if (text.trim() !== '') row.sections.splice(place, 0, { label, type, text: visible(text) });
    this.#onChange(row);
  }
}

type EventOf<T> = Extract<NumberedEvent, { type: T }>;

function textOfDisplay(display: Exclude<Display, string | FileDiff>): string {
  switch (display.type) {
    case 'todo_list':
      return display.todos.map(({ status, content }) => `[${status}] ${content}`).join('\n');
    case 'plan_summary':
      return display.plan;
    case 'task_execution':
      return display.result ?? '';
    case 'terminal_output':
      return display.text;
  }
}

const cut = (text: string) =>
  text.length > maxText ? `${text.slice(0, maxText)}\n… ${text.length - maxText} more characters` : text;

export const visible = (text: string) => visibleText(cut(text));

/** The first line. A heading in Markdown is shown without its marks. */
const titleOf = (text: string) =>
  visibleText(/^(?:#+ )?(.*)/.exec(text.slice(0, 2000).trim())?.[1]?.slice(0, maxTitle) ?? '');

function imagesOf(parts: readonly Part[]): PageRow['sections'] {
  return parts.flatMap(({ inlineData }) => {
    const { mimeType = '', data = '' } = inlineData ?? {};
    const isShown =
      /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) && data.length <= maxImage && /^[A-Za-z0-9+/]+=*$/.test(data);
    return isShown ? [{ label: 'Image', type: 'image' as const, text: `data:${mimeType};base64,${data}` }] : [];
  });
}

/** One line per parameter; text of several lines starts below its name. */
function formatParameters(parameters: Record<string, unknown>): string {
  const lines = Object.entries(parameters).map(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
    return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  ')}` : `${name}: ${text}`;
  });
  return lines.join('\n');
}
