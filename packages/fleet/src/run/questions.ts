import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { approvalText, redact, visibleText } from '@lathe/core/host';
import type { Run } from './run.js';

/** A question as a person elsewhere sees it. */
export interface Question {
  job: string;
  id: string;
  run: string;
  team: string;
  /** Of what would run: an answer applies to nothing else. */
  digest: string;
  /** Different each time the same call is asked about, so that an old answer does not count again. */
  number: string;
  text: string;
  tool: string;
  askedAt: number;
  worker: string;
}

/** What a person said. `job` lets the same call run again in this job. */
export interface Answer extends Pick<Question, 'job' | 'digest' | 'number'> {
  decision: 'once' | 'job' | 'deny';
  message?: string;
}

export interface FleetApproverOptions
  extends Pick<Run, 'job' | 'key' | 'board' | 'keys' | 'name' | 'answerWaitMs' | 'secrets'> {
  /** Where the job works here; on another worker it may be elsewhere. */
  directory: string;
  /** Frees the worker; called when nobody has answered and the job says that it waits. */
  park: () => void;
  /** What an earlier worker had asked, and who had answered. */
  earlier: { asked: Readonly<Record<string, string>>; answers: readonly string[] } | undefined;
}

const pollMs = 500;

/** Puts questions on the board and waits for signed answers. */
export class FleetApprover implements Approver {
  readonly #options: FleetApproverOptions;
  /** The numbers of the open questions, by digest. */
  readonly asked: Map<string, string>;
  /** Who answered which question, and how. */
  readonly answers: string[];

  constructor(options: FleetApproverOptions) {
    this.#options = options;
    this.asked = new Map(Object.entries(options.earlier?.asked ?? {}));
    this.answers = [...(options.earlier?.answers ?? [])];
  }

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    const { job, key, board, keys, name: worker, directory, secrets, answerWaitMs, park } = this.#options;
    const digest = digestOf(request, directory);
    const number = this.asked.get(digest) ?? randomBytes(8).toString('hex');
    const known = await this.#answer(request.tool, digest, number);
    if (known) return known;
    this.asked.set(digest, number);
    const { id, run, team } = job;
    const text = visibleText(redact(approvalText(request), secrets));
    const call = { job: key, id, run, team, digest, number, text, tool: request.tool };
    const question: Question = { ...call, askedAt: Date.now(), worker };
    await board.set('questions', `${key}.${digest}`, JSON.stringify(keys.seal('question', question)));
    const until = performance.now() + answerWaitMs;
    while (performance.now() < until) {
      await pause(Math.min(pollMs, answerWaitMs), undefined, { signal });
      const answer = await this.#answer(request.tool, digest, number);
      if (answer) return answer;
    }
    if (job.questions === 'park' && !request.isMidCall) {
      park();
      signal.throwIfAborted();
    }
    this.asked.delete(digest);
    await board.remove('questions', `${key}.${digest}`);
    return { outcome: 'deny', message: 'Nobody answered this question.' };
  }

  /** Whether there is an answer to an open question. */
  async isAnswered(): Promise<boolean> {
    const found = await Promise.all([...this.asked].map(([digest, number]) => this.#find(digest, number)));
    return found.some((answer) => answer !== undefined);
  }

  async #answer(tool: string, digest: string, number: string): Promise<Decision | undefined> {
    const { key, board } = this.#options;
    const found = await this.#find(digest, number);
    if (!found) return undefined;
    const { answer, by } = found;
    await board.remove('questions', `${key}.${digest}`);
    if (answer.decision !== 'job') await board.remove(`answers/${key}`, digest);
    this.asked.delete(digest);
    this.answers.push(`${by}: ${answer.decision} (${tool}, call ${digest.slice(0, 12)})`);
    if (answer.decision !== 'deny') return { outcome: 'once', by };
    return { outcome: 'deny', by, ...(answer.message !== undefined && { message: answer.message }) };
  }

  /** The answer to exactly this question, if there is one that somebody trusted has signed. */
  async #find(digest: string, number: string): Promise<{ answer: Answer; by: string } | undefined> {
    const { key, board, keys } = this.#options;
    const read = keys.read<Answer>('answer', await board.get(`answers/${key}`, digest));
    if (read?.value.job !== key || read.value.digest !== digest) return undefined;
    const { value: answer, by } = read;
    const isOfQuestion = answer.number === number && (answer.decision === 'once' || answer.decision === 'deny');
    return isOfQuestion || answer.decision === 'job' ? { answer, by } : undefined;
  }
}

/** Of the tool, its arguments and what a person would see, so that an answer cannot move to another call. */
function digestOf({ tool, args, confirmation }: ApprovalRequest, directory: string): string {
  const text = JSON.stringify([tool, args, confirmation]).replaceAll(JSON.stringify(directory).slice(1, -1), '<work>');
  return createHash('sha256').update(text).digest('hex');
}
