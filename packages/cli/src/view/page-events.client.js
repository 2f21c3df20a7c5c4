// Makes rows from the messages and events of a live session, as `lathe view` makes them from its transcript.
import { data, redraw, rows } from './page.client.js';

const maxText = 100_000;
/** The same as in the terminal: all that cannot be seen or changes the direction, but not parts of emoji. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}](?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[\d#*]\ufe0f(?=\u20e3)|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?\u200d(?=\p{Extended_Pictographic}))/gu;

export function visible(text) {
  const short = text.length > maxText ? `${text.slice(0, maxText)}\n… ${text.length - maxText} more characters` : text;
  return short.replace(hidden, (character) => {
    const code = character.codePointAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

const calls = new Map();
/** The answer of the turn in progress. */
let turn;

const titleOf = (text) => visible(text.slice(0, 2000).trim().split('\n', 1)[0].slice(0, 200));
const isoTime = (time) => (time ? new Date(time).toISOString() : '');

function add(row) {
  rows.push({ title: '', status: '', time: '', durationMs: 0, facts: [], sections: [], ...row });
  redraw(rows.at(-1));
  return rows.at(-1);
}

export function addNote(text, time) {
  add({ kind: 'note', title: titleOf(text), time: isoTime(time), sections: [section('Note', text)] });
}

const section = (label, text, type = 'text') => ({ label, type, text: visible(text) });

/** Adds to a section of the row or replaces it. */
function put(row, label, text, { type, isMore } = {}) {
  const known = row.sections.find((each) => each.label === label);
  if (isMore && known) known.text += known.text.length < maxText ? visible(text) : '';
  else if (known) known.text = visible(text);
  else if (text.trim() !== '') row.sections.push(section(label, text, type));
  redraw(row);
}

/** Shows only these messages. */
export function reset(messages) {
  rows.length = 0;
  calls.clear();
  turn = undefined;
  for (const message of messages) addMessage(message);
  redraw();
}

const join = (parts) => parts.map(({ text }) => text ?? '').join('');

function addMessage({ role, parts }, time) {
  const text = join(parts.filter(({ thought }) => !thought));
  if (role === 'user') {
    const title = titleOf(parts.find((part) => part.text)?.text ?? '');
    add({ kind: 'prompt', title, time: isoTime(time), sections: [section('Prompt', text)] });
  }
  if (role === 'model') endTurn(parts, text, join(parts.filter(({ thought }) => thought)));
  if (role === 'tool') for (const { functionResponse } of parts) endOutput(functionResponse);
}

function endOutput({ id, response = {} } = {}) {
  const row = calls.get(id);
  if (!row) return;
  const { error, output } = response;
  if (row.status === 'interrupted') row.status = error === undefined ? 'success' : 'error';
  row.sections = row.sections.filter(({ label }) => label !== 'Output');
  put(row, error === undefined ? 'Output' : 'Error', asText(error ?? output ?? response));
}

function endTurn(parts, text, thoughts) {
  const row = turn ?? add({ kind: 'answer' });
  const requested = parts.flatMap(({ functionCall }) => functionCall ?? []);
  row.isRunning = false;
  row.title = titleOf(text) || `requests ${requested.length} ${requested.length === 1 ? 'call' : 'calls'}`;
  row.sections = [];
  put(row, 'Thoughts', thoughts);
  put(row, 'Answer', text);
  for (const { id, name, args } of requested) callRow({ callId: id, name, args });
}

const asText = (value) => (typeof value === 'string' ? value : (JSON.stringify(value ?? '', null, 2) ?? ''));

function callRow({ callId, name, description = '', args }, time) {
  const row =
    calls.get(callId) ?? add({ kind: data.kinds[name] ?? 'other', status: 'interrupted', title: titleOf(name) });
  calls.set(callId, row);
  if (description !== '') row.title = titleOf(description === name ? name : `${name} ${description}`);
  row.time ||= isoTime(time);
  row.at = undefined;
  const lines = Object.entries(args ?? {}).map(([key, value]) => `${key}: ${asText(value)}`);
  put(row, 'Parameters', lines.join('\n'));
  return row;
}

/** What a tool shows of its work. */
function putDisplay(row, display) {
  if (typeof display === 'string') put(row, 'Output', display);
  else if (display?.fileDiff) {
    row.sections = row.sections.filter(({ label }) => label !== 'Change');
    row.sections.unshift(section('Change', display.fileDiff, 'diff'));
    redraw(row);
  } else if (display?.todos)
    put(row, 'Output', display.todos.map((todo) => `[${todo.status}] ${todo.content}`).join('\n'));
  else if (display) put(row, 'Output', display.text ?? display.plan ?? display.result ?? '');
}

function endCall({ callId, name, description, status, returnDisplay, startedAt, durationMs, verdict, decision }) {
  const row = callRow({ callId, name, description }, startedAt);
  const words = { allow: 'allowed', deny: 'denied' }[verdict?.verdict] ?? '';
  const decided = decision ? (decision.outcome === 'deny' ? 'refused' : 'approved') : words;
  Object.assign(row, {
    isRunning: false,
    durationMs,
    status: ['refused', 'denied'].includes(decided) ? 'refused' : status,
  });
  row.facts = [['Status', row.status], ...(decided === '' ? [] : [['Decision', decided]])];
  putDisplay(row, returnDisplay);
}

function addUsage({ request, requestCost, contextTokens, contextWindow }) {
  Object.assign(data, { contextTokens, contextWindow });
  const facts = [
    ['Tokens in', request.inputTokens],
    ['From the cache', request.cachedInputTokens],
    ['Tokens out', request.outputTokens],
    ['Cost in cents', requestCost?.toFixed(4)],
  ];
  if (turn)
    turn.facts = facts.filter(([, value]) => value !== undefined).map(([label, value]) => [label, String(value)]);
  redraw(turn);
}

function addDelta(label, text) {
  if (!turn) return;
  put(turn, label, text, { isMore: true });
  if (label === 'Answer') turn.title = titleOf(turn.sections.find((each) => each.label === label)?.text ?? '');
}

function addPromptEnd({ reason, message }, time) {
  for (const row of rows) row.isRunning = false;
  for (const row of calls.values()) if (row.status === 'running') row.status = 'cancelled';
  if (reason !== 'done') addNote(message ?? reason, time);
}

const steps = {
  'turn-start': ({ time }) => {
    turn = add({ kind: 'answer', title: '…', time: isoTime(time), isRunning: true });
  },
  'text-delta': ({ text }) => addDelta('Answer', text),
  'reasoning-delta': ({ text }) => addDelta('Thoughts', text),
  retry: ({ reason, time }) => {
    if (turn) turn.sections = [];
    addNote(`The request is repeated: ${reason}`, time);
  },
  'message-add': ({ message, time }) => {
    if (turn?.isRunning && message.role === 'model') turn.durationMs = time - Date.parse(turn.time);
    addMessage(message, time);
  },
  'call-update': ({ time, ...call }) => Object.assign(callRow(call, time), { isRunning: true, status: 'running' }),
  'call-output': ({ callId, display }) => calls.has(callId) && putDisplay(calls.get(callId), display),
  'call-end': ({ outcome }) => endCall(outcome),
  usage: ({ usage }) => addUsage(usage),
  notice: ({ message, time }) => addNote(message, time),
  'compaction-end': ({ compaction: { tokensBefore, tokensAfter }, time }) =>
    addNote(`The history was shortened from ${tokensBefore} to ${tokensAfter} tokens.`, time),
  'subagent-event': ({ callId, event }) => {
    const row = calls.get(callId);
    const line =
      event.type === 'call-end' ? `${event.outcome.name} ${event.outcome.description}: ${event.outcome.status}\n` : '';
    if (row && line) put(row, 'Subagent', line, { isMore: true });
  },
  'steer-end': ({ text, isDelivered, time }) => isDelivered || addNote(`Not delivered: ${text}`, time),
  'prompt-end': ({ end, time }) => addPromptEnd(end, time),
};

export function applyEvent(event) {
  steps[event.type]?.(event);
}
