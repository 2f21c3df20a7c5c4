import { join } from 'node:path';
import { Client, type ElicitRequest, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';

export const program = join(import.meta.dirname, '../packages/cli/dist/main.cjs');

/** Both eras of the protocol: with a session, and without. */
export const eras = ['legacy', { pin: '2026-07-28' }] as const;

export interface ClientSetup {
  era?: (typeof eras)[number];
  /** What the person at the client says; without it the client cannot ask. */
  answer?: (question: ElicitRequest['params']) => ElicitResult;
}

/** A client of the SDK, as another program would use it. */
export function mcpClient({ era = 'legacy', answer }: ClientSetup = {}): Client {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: answer ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode: era } },
  );
  if (answer) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params));
  onTestFinished(() => client.close());
  return client;
}

/** `lathe serve` in `cwd`, with a client connected to it. */
export async function serveOverStdio(
  cwd: string,
  { home = cwd, flags = [], ...setup }: ClientSetup & { home?: string; flags?: readonly string[] } = {},
): Promise<Client> {
  const client = mcpClient(setup);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...flags, 'serve'],
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LATHE_HOME: join(home, '.lathe') },
  });
  await client.connect(transport);
  return client;
}
