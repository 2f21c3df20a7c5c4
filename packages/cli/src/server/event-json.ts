import type { AgentEvent } from '@lathe/agent';
import type { SessionEvent } from '@lathe/agent/client';
import { headOf } from '@lathe/core/host';

const maxStringChars = 65_536;
const maxEventChars = 1_000_000;

/** An event as JSON on one line, of limited size. Whole files and contents for the model are left out. */
export function eventJson(event: AgentEvent | SessionEvent): string {
  const text = smallJson(sent(event));
  return text.length <= maxEventChars ? text : JSON.stringify({ type: event.type, isTooLarge: true });
}

/** A value as JSON, with long texts cut and without media. */
export function smallJson(value: unknown): string {
  return JSON.stringify(value, function (this: unknown, key: string, each: unknown) {
    if (typeof each !== 'string' || each.length <= maxStringChars) return each;
    const isMedia = key === 'data' && typeof this === 'object' && this !== null && 'mimeType' in this;
    return isMedia ? '' : `${headOf(each, maxStringChars)}…`;
  });
}

function sent(event: AgentEvent | SessionEvent): object {
  if (event.type === 'subagent-event') return { ...event, event: sent(event.event) };
  if (event.type === 'call-output') return { ...event, display: withoutFiles(event.display) };
  if (event.type === 'compaction-end') return { ...event, compaction: { ...event.compaction, history: undefined } };
  if (event.type === 'call-end') {
    const returnDisplay = withoutFiles(event.outcome.returnDisplay);
    return { ...event, outcome: { ...event.outcome, returnDisplay, llmContent: undefined, response: undefined } };
  }
  if (event.type !== 'question-add') return event;
  return { ...event, question: { ...event.question, confirmation: withoutFiles(event.question.confirmation) } };
}

/** A diff shows what changes; the files before and after can be large. */
function withoutFiles(shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null || !('fileDiff' in shown)) return shown;
  return { ...shown, originalContent: undefined, newContent: undefined };
}
