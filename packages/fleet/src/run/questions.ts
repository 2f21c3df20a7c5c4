import { createHash } from 'node:crypto';
import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { approvalText, redact, visibleText } from '@lathe/core/host';
import type { Keys } from '../job/keys.js';
import type { Board } from '../queue/board.js';

/** A question as a person elsewhere sees it. */
export interface Question {
  job: string;
  id: string;
  run: string;
  /** Of what would run: an answer holds for nothing else. */
  digest: string;
  text: string;
  tool: string;
  askedAt: number;
  worker: string;
}

/** What a person said. `job` lets the same call run again in this job. */
export interface Answer {
  job: string;
  digest: string;
  decision: 'once' | 'job' | 'deny';
  message?: string;
}

/** Thrown into a job whose question nobody has answered, so that it frees its worker. */
export class Parked extends Error {
  override readonly name = 'Parked';
}

export interface FleetApproverOptions {
  job: { key: string; id: string; run: string };
  board: Board;
  keys: Keys;
  worker: string;
  /** Where the job works here; on another worker it may be elsewhere. */
  directory: string;
  secrets: readonly string[];
  /** How long to wait while the job keeps its worker. */
  waitMs: number;
  /** Frees the worker; only called when questions are parked. */
  park: (() => void) | undefined;
  /** Every answer that was used, for the audit log. */
  onAnswer: (text: string) => void;
}

const pollMs = 500;

/** Puts questions on the board and waits for signed answers. */
export class FleetApprover implements Approver {
  readonly #options: FleetApproverOptions;

  constructor(options: FleetApproverOptions) {
    this.#options = options;
  }

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    const { job, board, worker, directory, secrets, waitMs, park } = this.#options;
    const digest = digestOf(request, directory);
    const known = await this.#answer(digest);
    if (known) return known;
    const text = visibleText(redact(approvalText(request), secrets));
    const question: Question = {
      job: job.key,
      id: job.id,
      run: job.run,
      digest,
      text,
      tool: request.tool,
      askedAt: Date.now(),
      worker,
    };
    await board.set('questions', job.key, JSON.stringify(question));
    const until = Date.now() + waitMs;
    while (Date.now() < until) {
      await pause(Math.min(pollMs, until - Date.now()), signal);
      const answer = await this.#answer(digest);
      if (answer) return answer;
    }
    if (!park || request.isMidCall) {
      await board.remove('questions', job.key);
      return { outcome: 'deny', message: 'Nobody answered this question.' };
    }
    park();
    signal.throwIfAborted();
    throw new Parked('waits for an answer');
  }

  /** The answer to exactly this call, if there is one that somebody trusted has signed. */
  async #answer(digest: string): Promise<Decision | undefined> {
    const { job, board, keys, onAnswer } = this.#options;
    const stored = await board.get(`answers/${job.key}`, digest);
    if (stored === undefined) return undefined;
    const read = readAnswer(keys, stored, job.key, digest);
    if (!read) return undefined;
    const { answer, by } = read;
    await board.remove('questions', job.key);
    if (answer.decision !== 'job') await board.remove(`answers/${job.key}`, digest);
    onAnswer(`${by} answered ${answer.decision} to the call ${digest.slice(0, 12)}`);
    if (answer.decision === 'deny')
      return { outcome: 'deny', ...(answer.message !== undefined && { message: answer.message }) };
    return { outcome: 'once' };
  }
}

/** Undefined for an answer to another question or of somebody unknown. */
function readAnswer(
  keys: Keys,
  stored: string,
  job: string,
  digest: string,
): { answer: Answer; by: string } | undefined {
  try {
    const { value, by } = keys.open('answer', JSON.parse(stored));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever signed it is trusted, and each field is checked
    const answer = value as Answer;
    const isRight = answer.job === job && answer.digest === digest && ['once', 'job', 'deny'].includes(answer.decision);
    return isRight ? { answer, by } : undefined;
  } catch {
    return undefined;
  }
}

/** Of the tool, its arguments and what a person would see, so that an answer cannot move to another call. */
function digestOf({ tool, args, confirmation }: ApprovalRequest, directory: string): string {
  const text = JSON.stringify([tool, args, confirmation]).replaceAll(JSON.stringify(directory).slice(1, -1), '<work>');
  return createHash('sha256').update(text).digest('hex');
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
