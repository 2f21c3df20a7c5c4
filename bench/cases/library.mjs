import { createLathe, defineTool } from '../../packages/core/dist/index.js';
import { group } from '../case.mjs';

const calls = 200;
const never = new AbortController().signal;

const nothing = defineTool({
  name: 'nothing',
  description: 'Does nothing.',
  kind: 'read',
  parameterSchema: { type: 'object' },
  execute: () => 'done',
});

export const cases = group('library', [
  {
    name: 'a call of a tool that does nothing',
    note: 'all nine steps, with the audit log; the mean of 200 calls one after another',
    contestants: {
      lathe: async ({ scratch }) => {
        const lathe = await createLathe({ cwd: scratch, home: scratch, env: {}, tools: [nothing] });
        const run = async () => {
          const since = performance.now();
          for (let count = 0; count < calls; count++) {
            const [outcome] = await lathe.run([{ name: 'nothing', args: {} }], never);
            if (outcome.llmContent !== 'done') throw new Error(outcome.error?.message);
          }
          return { time: (performance.now() - since) / calls, output: 'done' };
        };
        return { run, close: () => lathe.close() };
      },
    },
    verify: (output) => output === 'done',
    goals: [{ metric: 'time', limit: 0.15, guard: 1.5 }],
    rounds: 15,
    isQuick: true,
  },
]);
