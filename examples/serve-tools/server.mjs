// Tools of your own as an MCP server, under the rules of Lathe.
import { createLathe, defineTool } from '@lathe/core';
import { serveStdio } from '@lathe/core/mcp';

const shout = defineTool({
  name: 'shout',
  description: 'Returns a text in capital letters.',
  kind: 'read',
  parameterSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }) => text.toUpperCase(),
});

const lathe = await createLathe({ cwd: process.cwd(), env: process.env, tools: [shout] });
await serveStdio({
  name: 'my-tools',
  version: '1.0.0',
  toolbox: lathe,
  tools: ['shout', 'read_file'],
  input: process.stdin,
  output: process.stdout,
  log: (message) => console.error(message),
});
