// A server with one tool that returns three texts, an image and a sound.
import { createInterface } from 'node:readline';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', mimeType: 'image/png', data: png };
const audio = { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' };

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'rich', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'show', description: 'Shows.', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [text('one'), image, text('two'), audio, text('three')] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply = answer ? { result: answer(params) } : { error: { code: -32_601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
