import { createLathe, defineTool } from '@lathe/core';

const shout = defineTool({
  name: 'shout',
  displayName: 'Shout',
  description: 'Returns a text in capital letters.',
  kind: 'read',
  parameterSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: async ({ text }) => ({ llmContent: text.toUpperCase(), returnDisplay: text.toUpperCase() }),
});

const lathe = await createLathe({ cwd: process.cwd(), env: process.env, tools: [shout] });
const [outcome] = await lathe.run([{ name: 'shout', args: { text: 'hello' } }], AbortSignal.timeout(10_000));
console.log(outcome?.llmContent);
await lathe.close();
