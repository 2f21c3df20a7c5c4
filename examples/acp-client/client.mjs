// A client of the Agent Client Protocol: one prompt to `lathe acp`, questions answered on the terminal.
//   node client.mjs "explain this project"
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const agent = spawn('lathe', ['acp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const terminal = createInterface({ input: process.stdin, output: process.stdout });

await client({ name: 'example' })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === 'agent_message_chunk') process.stdout.write(update.content.text ?? '');
    if (update.sessionUpdate === 'tool_call_update' && update.status === 'completed')
      console.log(`[${update.toolCallId}: done]`);
  })
  .onRequest(methods.client.session.requestPermission, async ({ params: { toolCall, options } }) => {
    console.log(`\n${toolCall.title}`);
    options.forEach(({ name }, index) => console.log(`  ${index + 1}  ${name}`));
    const chosen = options[Number(await terminal.question('Number: ')) - 1] ?? options.at(-1);
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  })
  .connectWith(stream, async (lathe) => {
    await lathe.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await lathe.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: 'text', text: process.argv[2] ?? 'What is this project about?' }];
    const { stopReason } = await lathe.request(methods.agent.session.prompt, { sessionId, prompt });
    console.log(`\n${stopReason}`);
  });
terminal.close();
agent.stdin.end();
