import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { webServer } from '../../../../testing/web-server.js';

beforeAll(buildProgram, 300_000);

const cacheable = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const escape = '\u001b]0;owned\u0007\u009b2J\u202e';

/** Uses protocol revision 2026-07-28 and lists these tools. */
async function serve(tools: readonly object[]): Promise<string> {
  const results: Record<string, object> = {
    'server/discover': {
      ...cacheable,
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: escape, version: escape },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: escape, version: escape } },
    },
    'tools/list': { ...cacheable, tools },
  };
  const server = await webServer((_, response) => {
    const { id, method } = JSON.parse(server.requests.at(-1)?.body || '{}') as { id?: number; method?: string };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} }));
  });
  return `${server.url}/mcp`;
}

const headers = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': `a ${escape}` } } };

test.each(['tools', 'doctor', 'mcp list', 'mcp test web'])(
  'SF01, SG07: lathe %s sanitizes everything that a server says about itself',
  { timeout: 60_000 },
  async (command) => {
    const httpUrl = await serve([
      { name: `a${escape}`, inputSchema: headers },
      { name: `b${escape}`, description: escape, inputSchema: { type: 'object' } },
    ]);
    const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ mcpServers: { web: { httpUrl } } }) });
    for (const env of [{}, { LATHE_DEBUG: '1' }]) {
      const { stdout, stderr } = await runProgram(command.split(' '), { home, env });
      expect(stdout).not.toBe('');
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      expect(stdout + stderr).not.toMatch(/[\u0007\u001b\u0080-\u009f\u202e]/);
    }
  },
);
