import { hash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { approvalText, redact, visibleText } from '@lathe/core/host';
import type { Board } from '../queue/board.js';
import type { Work } from './shipped-session.js';

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
  /** Of the job: a worker that has lost the job may have asked the same before. */
  attempt: number;
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

const pollMs = 500;

/** Puts questions on the board and waits for signed answers. */
export class FleetApprover implements Approver {
  readonly #work: Work;
  readonly #park: () => void;

  /** `park` frees the worker; called when nobody has answered and the job says that it waits. */
  constructor(work: Work, park: () => void) {
    this.#work = work;
    this.#park = park;
  }

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    const { job, key, board, keys, attempt, name: worker, state, secrets, answerWaitMs } = this.#work;
    const digest = digestOf(request, this.#work.checkout.directory);
    const number = state.asked[digest] ?? randomBytes(8).toString('hex');
    const known = await this.#answer(request.tool, digest, number);
    if (known) return known;
    state.asked[digest] = number;
    const { id, run, team } = job;
    const text = visibleText(redact(approvalText(request), secrets));
    const call = { job: key, id, run, team, digest, number, attempt, text, tool: request.tool };
    const question: Question = { ...call, askedAt: Date.now(), worker };
    await board.set('questions', `${key}.${number}`, JSON.stringify(keys.seal('question', question)));
    const until = performance.now() + answerWaitMs;
    while (performance.now() < until) {
      await pause(Math.min(pollMs, answerWaitMs), undefined, { signal });
      const answer = await this.#answer(request.tool, digest, number);
      if (answer) return answer;
    }
    if (job.questions === 'park' && !request.isMidCall) {
      this.#park();
      signal.throwIfAborted();
    }
    delete state.asked[digest];
    await board.remove('questions', `${key}.${number}`);
    return { outcome: 'deny', message: 'Nobody answered this question.' };
  }

  /** Whether there is an answer to an open question. */
  async isAnswered(): Promise<boolean> {
    const asked = Object.entries(this.#work.state.asked);
    const found = await Promise.all(asked.map(([digest, number]) => this.#find(digest, number)));
    return found.some((answer) => answer !== undefined);
  }

  async #answer(tool: string, digest: string, number: string): Promise<Decision | undefined> {
    const { key, board, state } = this.#work;
    const found = await this.#find(digest, number);
    if (!found) return undefined;
    const { value: answer, by } = found;
    // The answer stays: its number keeps it from counting again, and a successor of this worker may need it.
    await board.remove('questions', `${key}.${number}`);
    delete state.asked[digest];
    state.answers.push(`${by}: ${answer.decision} (${tool}, call ${digest.slice(0, 12)})`);
    if (answer.decision !== 'deny') return { outcome: 'once', by };
    return { outcome: 'deny', by, ...(answer.message !== undefined && { message: answer.message }) };
  }

  /** The answer to exactly this question, if there is one that somebody trusted has signed. */
  async #find(digest: string, number: string): Promise<{ value: Answer; by: string } | undefined> {
    const { key, board, keys } = this.#work;
    const read = keys.read<Answer>('answer', await board.get(`answers/${key}`, digest));
    if (read?.value.job !== key || read.value.digest !== digest) return undefined;
    const { number: answered, decision } = read.value;
    const isOfQuestion = answered === number && (decision === 'once' || decision === 'deny');
    return isOfQuestion || decision === 'job' ? read : undefined;
  }
}

/** Removes what a job that has ended had asked. */
export async function closeQuestions(board: Board, key: string): Promise<void> {
  const fields = await board.fields('questions');
  for (const field of fields.filter((each) => each.startsWith(key))) await board.remove('questions', field);
}

/** Of the tool, its arguments and what a person would see, so that an answer cannot move to another call. */
function digestOf({ tool, args, confirmation }: ApprovalRequest, directory: string): string {
  // On another worker the job works in another directory.
  const text = JSON.stringify([tool, args, confirmation]).replaceAll(JSON.stringify(directory).slice(1, -1), '<work>');
  return hash('sha256', text);
}
