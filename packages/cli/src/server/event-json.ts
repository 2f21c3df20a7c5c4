import type { AgentEvent } from '@lathe/agent';
import type { SessionEvent } from '@lathe/agent/client';
import type { Confirmation, Display } from '@lathe/core';

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
    return isMedia ? '' : `${each.slice(0, maxStringChars)}…`;
  });
}

function sent(event: AgentEvent | SessionEvent): object {
  switch (event.type) {
    case 'subagent-event':
      return { ...event, event: sent(event.event) };
    case 'call-output':
      return { ...event, display: withoutFiles(event.display) };
    case 'call-end': {
      const { returnDisplay, ...rest } = event.outcome;
      const outcome = {
        ...rest,
        returnDisplay: withoutFiles(returnDisplay),
        llmContent: undefined,
        response: undefined,
      };
      return { ...event, outcome };
    }
    case 'compaction-end':
      return { ...event, compaction: { ...event.compaction, history: undefined } };
    case 'question-add': {
      const { confirmation } = event.question;
      return { ...event, question: { ...event.question, confirmation: withoutFiles(confirmation as Confirmation) } };
    }
    default:
      return event;
  }
}

/** A diff shows what changes; the files before and after can be large. */
function withoutFiles(shown: Display | Confirmation | undefined): unknown {
  if (typeof shown !== 'object' || !('fileDiff' in shown)) return shown;
  return { ...shown, originalContent: undefined, newContent: undefined };
}
