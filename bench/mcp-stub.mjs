// An MCP server on stdio with 20 tools that does as little as it can.
import { createInterface } from 'node:readline';

const tools = Array.from({ length: 20 }, (_, index) => ({
  name: `record_${index}`,
  description: `Looks up record ${index} by its key.`,
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
}));
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'stub', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const error = { code: -32601, message: 'no such method' };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error }) }));
});
