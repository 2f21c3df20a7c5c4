// A server made with the official SDK.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'local', version: '1.0.0' });
server.registerTool(
  'shout',
  { description: 'Answers in capital letters.', inputSchema: z.object({ text: z.string() }) },
  ({ text }) => ({ content: [{ type: 'text', text: text.toUpperCase() }] }),
);
await server.connect(new StdioServerTransport());
