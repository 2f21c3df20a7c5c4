// Drives lathe from TypeScript: sends a prompt, answers questions, prints the result.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const lathe = spawn('lathe', ['-p', '--input-format', 'stream-json', '-o', 'stream-json']);
const send = (message: object) => lathe.stdin.write(`${JSON.stringify(message)}\n`);

send({ type: 'control_request', request_id: '1', request: { subtype: 'initialize' } });
send({ type: 'user', message: { role: 'user', content: process.argv[2] } });
for await (const line of createInterface(lathe.stdout)) {
  const { type, request, request_id, result } = JSON.parse(line);
  if (type === 'control_request') {
    // A call needs approval. This driver allows only edits.
    const isEdit = ['edit', 'write_file'].includes(request.tool_name);
    const response = isEdit ? { behavior: 'allow' } : { behavior: 'deny', message: 'Only edits.' };
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  }
  if (type === 'result') lathe.stdin.end(() => console.log(result));
}
