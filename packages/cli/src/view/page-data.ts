import { askedText, type ResumedSession, type TurnRecord } from '@lathe/agent';
import { type Part, textOf } from '@lathe/core';
import { responseText, visibleText } from '@lathe/core/host';

/** A session as plain data for the page. All text is sanitized. */
export interface PageData {
  id: string;
  directory: string;
  model: string;
  notes: string[];
  rows: PageRow[];
}

/** The type of a row; calls are grouped by what they do. */
export type RowKind = 'prompt' | 'answer' | 'read' | 'change' | 'command' | 'web' | 'other';

export interface PageRow {
  kind: RowKind;
  title: string;
  status: string;
  /** ISO 8601; empty if unknown. */
  time: string;
  durationMs: number;
  /** Labels and values. */
  facts: [string, string][];
  sections: PageSection[];
}

export interface PageSection {
  label: string;
  type: 'text' | 'diff' | 'image';
  text: string;
}

const maxText = 100_000;
const maxTitle = 200;
const maxImage = 4_000_000;

export function pageDataOf({ id, header, messages, turns, calls, notes }: ResumedSession): PageData {
  const answers = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse: answer }) => (answer?.id ? [[answer.id, answer]] : [])),
    ),
  );
  const rows = messages.flatMap((message): PageRow[] => {
    if (message.role === 'tool') return [];
    const text = section(
      message.role === 'user' ? 'Prompt' : 'Answer',
      textOf(message.parts.filter(({ thought }) => !thought)),
    );
    const thought = section('Thoughts', textOf(message.parts.filter((part) => part.thought)));
    const own = {
      title: titleOf(askedText(message) || text.text),
      sections: [...nonEmpty([thought, text]), ...imagesOf(message.parts)],
    };
    if (message.role === 'user') return [{ ...blank, kind: 'prompt', ...own }];
    const turn = turns.get(message);
    const requested = message.parts.flatMap(({ functionCall }) => functionCall ?? []);
    const facts = turn ? factsOf(turn) : [];
    const title =
      own.title === '' ? `requests ${requested.length} ${requested.length === 1 ? 'call' : 'calls'}` : own.title;
    const answer: PageRow = { ...blank, kind: 'answer', ...own, title, facts, ...timesOf(turn) };
    return [answer, ...requested.map((call) => callRow(call, calls.get(call.id ?? ''), answers.get(call.id ?? '')))];
  });
  const { cwd = '', model = '' } = header ?? {};
  return { id, directory: visibleText(cwd), model: visibleText(model), notes: notes.map(visibleText), rows };
}

const blank: PageRow = {
  kind: 'prompt',
  title: '',
  status: '',
  time: '',
  durationMs: 0,
  facts: [],
  sections: [],
};

type FunctionCall = NonNullable<Part['functionCall']>;
type FunctionResponse = NonNullable<Part['functionResponse']>;
type CallRecord = ResumedSession['calls'] extends ReadonlyMap<string, infer V> ? V : never;

function callRow(call: FunctionCall, record: CallRecord | undefined, answer: FunctionResponse | undefined): PageRow {
  const name = visibleText(call.name ?? '?');
  const description = record?.description ?? '';
  const status = visibleText(statusOf(record, answer));
  const facts: [string, string][] = [['Status', status]];
  if (record) facts.push(['Decision', record.decision]);
  return {
    ...blank,
    kind: kinds.get(name) ?? 'other',
    title: titleOf(description === name ? name : `${name} ${description}`),
    status,
    facts,
    sections: [...nonEmpty(sectionsOf(call, record, answer)), ...imagesOf(answer?.parts ?? [])],
    ...timesOf(record),
  };
}

function statusOf(record: CallRecord | undefined, answer: FunctionResponse | undefined): string {
  if (record) return record.decision === 'refused' || record.decision === 'denied' ? 'refused' : record.status;
  if (!answer) return 'interrupted';
  return answer.response?.['error'] === undefined ? 'success' : 'error';
}

function sectionsOf(
  call: FunctionCall,
  record: CallRecord | undefined,
  answer: FunctionResponse | undefined,
): PageSection[] {
  const { error } = answer?.response ?? {};
  const parameters = section('Parameters', formatParameters(call.args ?? {}));
  const result = section(error === undefined ? 'Output' : 'Error', answer ? responseText(answer) : '');
  if (!record?.diff) return [parameters, result];
  // For a file change the diff comes first, because it is easier to read than the parameters.
  return [{ ...section('Change', record.diff), type: 'diff' }, result, parameters];
}

export const kinds = new Map<string, RowKind>([
  ...['read_file', 'read_many_files', 'list_directory', 'glob', 'grep_search'].map((name) => [name, 'read'] as const),
  ...['edit', 'write_file', 'save_memory'].map((name) => [name, 'change'] as const),
  ...['web_fetch', 'web_search'].map((name) => [name, 'web'] as const),
  ['run_shell_command', 'command'],
]);

function timesOf(step: { time: string; durationMs: number } | undefined): { time: string; durationMs: number } {
  const isKnown = step !== undefined && Number.isFinite(Date.parse(step.time)) && step.durationMs >= 0;
  return isKnown
    ? { time: new Date(step.time).toISOString(), durationMs: step.durationMs }
    : { time: '', durationMs: 0 };
}

/** The labels are those that the page adds up. */
function factsOf({ inputTokens, outputTokens, cachedInputTokens = 0, cost }: TurnRecord): [string, string][] {
  return [
    ['Tokens in', String(inputTokens)],
    ...(cachedInputTokens > 0 ? [['From the cache', String(cachedInputTokens)] as [string, string]] : []),
    ['Tokens out', String(outputTokens)],
    ...(cost === undefined ? [] : [['Cost in cents', cost.toFixed(4)] as [string, string]]),
  ];
}

function section(label: string, text: string): PageSection {
  const cut = text.length > maxText ? `${text.slice(0, maxText)}\n… ${text.length - maxText} more characters` : text;
  return { label, type: 'text', text: visibleText(cut) };
}

function nonEmpty(sections: readonly PageSection[]): PageSection[] {
  return sections.filter(({ text }) => text.trim() !== '');
}

function imagesOf(parts: readonly Part[]): PageSection[] {
  return parts.flatMap(({ inlineData }): PageSection[] => {
    const { mimeType = '', data = '' } = inlineData ?? {};
    const isShown =
      /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) && data.length <= maxImage && /^[A-Za-z0-9+/]+=*$/.test(data);
    return isShown ? [{ label: 'Image', type: 'image', text: `data:${mimeType};base64,${data}` }] : [];
  });
}

function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return visibleText(line.slice(0, maxTitle));
}

/** One line per parameter; text of several lines starts below its name. */
function formatParameters(parameters: Record<string, unknown>): string {
  const lines = Object.entries(parameters).map(([name, value]) => {
    const text = asText(value);
    return text.includes('\n') ? `${name}:\n${text.replace(/^/gm, '  ')}` : `${name}: ${text}`;
  });
  return lines.join('\n');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);
}
