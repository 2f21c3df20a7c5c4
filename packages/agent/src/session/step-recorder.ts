import type { CallOutcome } from '@lathe/core';
import type { AgentEvent } from '../loop/agent-event.js';
import type { CallDecision, CallRecord, TurnRecord } from './record.js';

const maxDiff = 100_000;

/** Turns the events of an agent into records for people who look back. */
export class StepRecorder {
  #turnBegin = Date.now();

  recordOf(event: AgentEvent): TurnRecord | CallRecord | undefined {
    if (event.type === 'turn-start') this.#turnBegin = Date.now();
    if (event.type === 'call-end') return recordOfCall(event.outcome);
    if (event.type !== 'usage') return undefined;
    const { request, requestCost } = event.usage;
    const { inputTokens, outputTokens, cachedInputTokens } = request;
    return {
      type: 'turn',
      time: new Date(this.#turnBegin).toISOString(),
      durationMs: Math.max(0, Date.now() - this.#turnBegin),
      inputTokens,
      outputTokens,
      cachedInputTokens,
      ...(requestCost !== undefined && { cost: requestCost }),
    };
  }
}

/** What is kept of a call that has ended. */
export function recordOfCall(outcome: Omit<CallOutcome, 'llmContent' | 'response'>): CallRecord {
  const { callId, status, description, startedAt, durationMs, returnDisplay } = outcome;
  const diff = typeof returnDisplay === 'object' && returnDisplay.type === 'file_diff' ? returnDisplay.fileDiff : '';
  return {
    type: 'call',
    callId,
    time: new Date(startedAt).toISOString(),
    durationMs,
    status,
    description,
    decision: summarizeDecision(outcome),
    diff: diff.slice(0, maxDiff),
  };
}

function summarizeDecision({ verdict, decision }: Pick<CallOutcome, 'verdict' | 'decision'>): CallDecision {
  if (verdict === undefined) return 'unjudged';
  if (verdict.verdict === 'deny') return 'denied';
  if (verdict.verdict === 'allow') return 'allowed';
  return decision === undefined || decision.outcome === 'deny' ? 'refused' : 'approved';
}
