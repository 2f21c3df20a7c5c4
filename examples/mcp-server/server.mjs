// An MCP server with the official SDK: npm install @modelcontextprotocol/server zod
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'units', version: '1.0.0' });
server.registerTool(
  'to_celsius',
  {
    description: 'Converts degrees Fahrenheit to Celsius.',
    inputSchema: z.object({ fahrenheit: z.number() }),
    annotations: { readOnlyHint: true },
  },
  ({ fahrenheit }) => ({ content: [{ type: 'text', text: `${(((fahrenheit - 32) * 5) / 9).toFixed(1)} °C` }] }),
);
await server.connect(new StdioServerTransport());
