import { defineTool } from '@lathe/core';

export default defineTool({
  name: 'hello',
  description: 'Greets somebody.',
  parameterSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: ({ name }) => `Hello, ${name}!`,
});
