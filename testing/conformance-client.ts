/**
 * The program that the official conformance suite drives: our own client, unchanged, with a person who says yes. The
 * suite appends the server's address and sets the variables that say which scenario it is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolError } from '../packages/core/src/contract/errors.js';
import { LatheHome } from '../packages/core/src/files/lathe-home.js';
import { ServerAuthorization } from '../packages/core/src/mcp/auth/oauth.js';
import { TokenStore } from '../packages/core/src/mcp/auth/token-store.js';
import { McpClient } from '../packages/core/src/mcp/client/mcp-client.js';
import type { Era } from '../packages/core/src/mcp/client/open-connection.js';
import type { ServerDefinition } from '../packages/core/src/mcp/client/server-definition.js';
import type { JsonSchema } from '../packages/core/src/text/schema/json-schema.js';

interface Context {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
}

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context: Context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
/** Some value of each type. */
const samples: Record<string, unknown> = {
  string: 'test',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
  null: null,
};

const home = mkdtempSync(join(tmpdir(), 'lathe-conformance-'));
try {
  await run(new URL(process.argv.at(-1) ?? ''));
} catch (error) {
  // Many scenarios want the client to refuse; the suite reads the reason and the exit code.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function run(url: URL): Promise<void> {
  const signal = AbortSignal.timeout(110_000);
  const client = openClient(url);
  try {
    const { tools } = await client.tools(signal);
    const calls =
      context.toolCalls ??
      [...tools.values()].map(({ listed }) => ({ name: listed.name, arguments: sample(listed.parameterSchema) }));
    for (const { name, arguments: params } of calls) {
      const tool = tools.get(name);
      if (tool === undefined) continue;
      // The model learns that one call failed, and continues with the next.
      const told = await client.call(tool.listed, params, { signal, onProgress: () => undefined }).then(
        ({ llmContent }) => llmContent,
        (error: unknown) => (error instanceof ToolError ? error.message : Promise.reject(error)),
      );
      console.error(name, JSON.stringify(told));
    }
  } finally {
    await client.close();
  }
}

function openClient(url: URL): McpClient {
  const definition: ServerDefinition = {
    name: 'conformance',
    alias: 'conformance',
    endpoint: { type: 'http', url, headers: {} },
    timeoutMs: 100_000,
    startTimeoutMs: 100_000,
    isTrusted: true,
    exclude: [],
    isProjects: false,
    written: null,
  };
  const authorization = new ServerAuthorization({
    server: url,
    name: definition.name,
    settings: oauthSettings(),
    store: new TokenStore(new LatheHome(home)),
    openPage: visit,
  });
  return new McpClient(definition, {
    roots: [home],
    runner: { startProgram: async () => Promise.reject(new Error('no programs are started here')) },
    env: {},
    authorization,
    handlers: {
      elicit: async () => ({ action: 'accept', content: {} }),
      sample: async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'ok' } }),
    },
    ...era(),
  });
}

/** The suite's authorization server sends a browser straight back. */
async function visit(page: URL): Promise<void> {
  const response = await fetch(page, { redirect: 'manual' });
  const back = response.headers.get('location');
  if (back === null) throw new Error(`the authorization page answered ${response.status}`);
  await fetch(back);
}

function oauthSettings() {
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (clientId !== undefined) return { clientId, ...(clientSecret !== undefined && { clientSecret }) };
  return scenario === 'auth/basic-cimd' ? { clientId: 'https://conformance-test.local/client-metadata.json' } : {};
}

function era(): { era?: Era } {
  const version = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'];
  if (version === undefined) return {};
  return { era: version >= '2026' ? { pin: version } : 'legacy' };
}

/** Some value for every parameter that must have one. */
function sample(schema: JsonSchema): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string; enum?: unknown[] }> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, enum: choices }]) => [
      name,
      choices?.[0] ?? samples[type ?? 'string'],
    ]),
  );
}
