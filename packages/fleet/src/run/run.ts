import type { ApprovalMode } from '@lathe/core';
import type { Store } from '../files/store.js';
import type { Job } from '../job/job.js';
import type { Keys } from '../job/keys.js';
import type { JobResult } from '../job/result.js';
import type { Board } from '../queue/board.js';

/** What every job on this worker uses. */
export interface JobHost {
  name: string;
  keys: Keys;
  board: Board;
  store: Store;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  latheHome: string;
  /** Where mirrors and the directories of tasks are. */
  root: string;
  /** The loosest mode that a job may have. */
  maxMode: ApprovalMode;
  sandbox: 'required' | 'auto' | 'off';
  /** How long a job keeps its worker while it waits for an answer. */
  answerWaitMs: number;
  /** Must not leave this machine. */
  secrets: readonly string[];
  log: (message: string) => void;
}

/** One job on this worker. */
export interface Run extends JobHost {
  job: Job;
  key: string;
  /** Counts from 1 with every worker that took the job. */
  attempt: number;
  /** Throws when another worker has the job now. */
  assertOwned: () => Promise<void>;
  /** Puts a job that works for this one into the queue. */
  addChild: (child: Job) => Promise<void>;
  findResults: (ids: readonly string[]) => Promise<JobResult[]>;
}
