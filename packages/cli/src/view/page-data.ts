import { askedText, type ResumedSession } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { type PageRow, PageRows } from './page-rows.js';

/** A session as plain data for the page. All text is sanitized. */
export interface PageData {
  id: string;
  directory: string;
  model: string;
  notes: string[];
  rows: PageRow[];
}

export function pageDataOf({ id, header, messages, turns, calls, notes }: ResumedSession): PageData {
  const timeline = new PageRows([], () => undefined);
  for (const message of messages) {
    const turn = turns.get(message);
    const row = timeline.addMessage(message, '', askedText(message));
    if (row && turn) Object.assign(row, { ...timesOf(turn), spent: turn });
    for (const { functionCall } of message.parts) {
      const record = calls.get(functionCall?.id ?? '');
      if (record) timeline.endCall({ ...record, ...timesOf(record) }, functionCall?.name ?? '?');
    }
  }
  const { cwd = '', model = '' } = header ?? {};
  const texts = { directory: visibleText(cwd), model: visibleText(model), notes: notes.map(visibleText) };
  return { id, ...texts, rows: timeline.rows };
}

/** A transcript may have been changed by anybody. */
function timesOf({ time, durationMs }: { time: string; durationMs: number }): { time: string; durationMs: number } {
  const isKnown = Number.isFinite(Date.parse(time)) && durationMs >= 0;
  return isKnown ? { time: new Date(time).toISOString(), durationMs } : { time: '', durationMs: 0 };
}
