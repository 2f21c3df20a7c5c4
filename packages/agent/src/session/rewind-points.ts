import type { RestoreOutcome, RestorePlan, Rewind, WorkspaceSnapshot } from '@lathe/core/host';
import type { Message } from '../models/model.js';
import type { SnapshotRecord } from './record.js';

/** A moment a session can go back to: before a prompt, or before the person went back. */
export interface RewindPoint {
  type: 'prompt' | 'rewind';
  /** The beginning of the prompt, or of the prompt to which the person went back. */
  text: string;
  /** The conversation before it. Missing when it is too long ago. */
  history?: readonly Message[];
  /** The files before and after it. Missing when nothing was changed, or no snapshot could be taken. */
  before?: WorkspaceSnapshot;
  after?: WorkspaceSnapshot;
}

/** Earlier conversations than these are not kept in memory. */
const maxHistories = 100;

export function addPoint<T extends RewindPoint>(points: T[], point: T): void {
  points.push(point);
  delete points.at(-1 - maxHistories)?.history;
}

interface RewindParts {
  rewind: Rewind;
  /** Whether a turn in the journal belongs to this session. */
  isOwn: (turn: string) => boolean;
  points: readonly RewindPoint[];
  record: (record: SnapshotRecord) => void;
  onProblem: (message: string) => void;
}

/** The points of a session, and the snapshots that belong to them. */
export class RewindPoints {
  readonly #parts: RewindParts;
  readonly #points: RewindPoint[];
  /** Set while a prompt is worked on. */
  #isOpen = false;
  #before: Promise<void> | undefined;
  #hasFailed = false;
  #hasPruned = false;

  constructor(parts: RewindParts) {
    this.#parts = parts;
    this.#points = [...parts.points];
  }

  /** The oldest first. */
  get list(): readonly RewindPoint[] {
    return this.#points;
  }

  /** A prompt begins. Its snapshot is taken before the first change. */
  begin(point: Pick<RewindPoint, 'type' | 'text' | 'history'>): void {
    addPoint(this.#points, { ...point });
    this.#isOpen = true;
    this.#before = undefined;
  }

  /** Takes the snapshot of the current prompt, unless there is one. Fails only when aborted. */
  async beforeChange(signal: AbortSignal): Promise<void> {
    if (!this.#isOpen || this.#hasFailed) return;
    this.#before ??= this.#take('before', signal).catch((error: unknown) => {
      this.#before = undefined;
      throw error;
    });
    await this.#before;
  }

  /** The prompt is over. Takes a snapshot if something may have changed. */
  async end(): Promise<void> {
    this.#isOpen = false;
    if (this.#before && !this.#hasFailed) await this.#take('after', new AbortController().signal);
  }

  /** What going back to the files of this point would do. */
  async plan(point: RewindPoint, signal: AbortSignal): Promise<{ plan: RestorePlan; now: WorkspaceSnapshot }> {
    if (this.#isOpen) throw new Error('The agent is still working');
    const { rewind, isOwn } = this.#parts;
    const now = await rewind.snapshots.take(signal);
    const later = this.#points
      .slice(this.#points.indexOf(point))
      .flatMap(({ before, after }) => (before ? [{ before, after }] : []));
    const [first] = later;
    if (!first) return { plan: { files: [], left: [] }, now };
    const gaps = later.flatMap(({ after }, at) => (after ? [[after, later[at + 1]?.before ?? now] as const] : []));
    return { plan: await rewind.plan({ target: first.before, now, gaps }, isOwn, signal), now };
  }

  /** Carries out a plan, as a point of its own. A person must have seen it. */
  async restore(plan: RestorePlan, now: WorkspaceSnapshot, signal: AbortSignal): Promise<RestoreOutcome[]> {
    this.#note('before', now);
    try {
      return await this.#parts.rewind.restore(plan, { isApproved: true }, signal);
    } finally {
      await this.#take('after', new AbortController().signal);
    }
  }

  async #take(when: 'before' | 'after', signal: AbortSignal): Promise<void> {
    const { snapshots } = this.#parts.rewind;
    try {
      const snapshot = await snapshots.take(signal);
      const { before } = this.#note(when, snapshot);
      if (when === 'before' || !before) return;
      await snapshots.keep(before, snapshot, signal);
      if (!this.#hasPruned) await snapshots.prune(signal);
      this.#hasPruned = true;
    } catch (error) {
      signal.throwIfAborted();
      this.#fail(error);
    }
  }

  /** Belongs to the last point. */
  #note(when: 'before' | 'after', snapshot: WorkspaceSnapshot): Partial<RewindPoint> {
    const last = this.#points.at(-1);
    if (!last) return {};
    last[when] = snapshot;
    this.#parts.record({ type: 'snapshot', when, ...snapshot });
    return last;
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.#hasFailed) this.#parts.onProblem(`/rewind cannot bring files back: no snapshot was taken (${reason}).`);
    this.#hasFailed = true;
  }
}
