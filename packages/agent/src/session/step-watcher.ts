import type { CallOutcome } from '@lathe/core';
import type { AgentEvent } from '../loop/agent-event.js';
import type { CallRecord, TurnRecord } from './record.js';

const maxDiff = 100_000;

/** Looks on while an agent works, and tells what should be kept of it for people who look back. */
export class StepWatcher {
  readonly #calls = new Map<string, { begin: number; description: string; wasAsked: boolean; hasRun: boolean }>();
  #turnBegin = Date.now();

  see(event: AgentEvent): TurnRecord | CallRecord | undefined {
    if (event.type === 'turn-start') this.#turnBegin = Date.now();
    if (event.type === 'call-update') this.#updated(event);
    if (event.type === 'call-end') return this.#ended(event.outcome);
    if (event.type !== 'usage') return undefined;
    const { inputTokens, outputTokens } = event.usage.request;
    return { type: 'turn', ...since(this.#turnBegin), inputTokens, outputTokens };
  }

  #updated({ callId, status, description }: Extract<AgentEvent, { type: 'call-update' }>): void {
    const known = this.#calls.get(callId) ?? { begin: Date.now(), description, wasAsked: false, hasRun: false };
    known.description = description;
    known.wasAsked ||= status === 'awaiting_approval';
    known.hasRun ||= status === 'executing';
    this.#calls.set(callId, known);
  }

  #ended({ callId, status, returnDisplay, error }: CallOutcome): CallRecord {
    const { begin, description, wasAsked, hasRun } = this.#calls.get(callId) ?? unseen;
    this.#calls.delete(callId);
    const isRefused = !hasRun && (wasAsked || error?.type === 'permission_denied');
    const diff = typeof returnDisplay === 'object' && returnDisplay.type === 'file_diff' ? returnDisplay.fileDiff : '';
    return {
      type: 'call',
      callId,
      ...since(begin ?? Date.now()),
      status,
      description,
      decision: isRefused ? 'refused' : wasAsked ? 'approved' : 'allowed',
      diff: diff.slice(0, maxDiff),
    };
  }
}

const unseen = { begin: undefined, description: '', wasAsked: false, hasRun: false };

function since(begin: number): { time: string; durationMs: number } {
  return { time: new Date(begin).toISOString(), durationMs: Math.max(0, Date.now() - begin) };
}
