export { type FleetIo, FleetUsageError } from './commands/io.js';
export { runFleet } from './commands/run-fleet.js';
export { getObject, openStore, type Store } from './files/store.js';
export { newResults, openQuestions, readResult } from './follow.js';
export type { Job, JobResult } from './jobs/job.js';
export { Keys } from './jobs/keys.js';
export { type Engine, openEngine } from './queue/engine.js';
export { type SubmitOptions, submit, type Task } from './submit.js';
export { FleetWorker, type FleetWorkerOptions } from './worker.js';
