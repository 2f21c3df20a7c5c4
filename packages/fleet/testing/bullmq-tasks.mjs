// A worker of BullMQ alone: each job is a task for the function behind `lathe batch`. For comparison with a fleet.
import { runTask } from '@lathe/agent';
import { Worker } from 'bullmq';

const [name, url, cwd, jobs] = process.argv.slice(2);
const never = new AbortController().signal;
const options = { cwd, env: process.env, home: process.env.HOME, flags: { 'tools.sandbox.mode': 'auto' } };
const worker = new Worker(name, async (job) => JSON.stringify(await runTask(job.data, options, never)), {
  connection: { url, maxRetriesPerRequest: null },
  concurrency: Number(jobs),
});
await worker.waitUntilReady();
process.send('ready');
