import { expect, test } from 'vitest';
import { serverConsent } from './server-consent.js';
import type { ServerDefinition } from './server-definition.js';

const definition: ServerDefinition = {
  name: 'notes',
  alias: 'notes',
  endpoint: { type: 'http', url: new URL('https://example.com/mcp'), headers: { 'User-Agent': 'sk-1' } },
  timeoutMs: 1,
  startTimeoutMs: 1,
  isTrusted: false,
  exclude: [],
  isProjects: false,
  plugin: { source: 'plugin notes', pin: 'x' },
  written: {
    httpUrl: 'https://example.com/mcp',
    headers: { 'User-Agent': 'a ${ANTHROPIC_API_KEY}', 'X-B': '$GITHUB_TOKEN' },
    args: ['$GITHUB_TOKEN', '$5', 'a$'],
  },
};

test('the question names each variable of the environment whose value a server gets', () => {
  const { confirmation } = serverConsent(definition, '/work');
  expect(confirmation.warnings).toEqual([
    'It receives the headers User-Agent.',
    'It gets the values of your variables ANTHROPIC_API_KEY, GITHUB_TOKEN.',
  ]);
  expect(serverConsent({ ...definition, written: { httpUrl: 'x' } }, '/work').confirmation.warnings).toHaveLength(1);
});

test('line breaks in names cannot add lines to the question', () => {
  const headers = { 'X-A\n(asked because you said so)': 'x' };
  const endpoint = { type: 'http' as const, url: new URL('https://example.com/mcp'), headers };
  const { confirmation } = serverConsent({ ...definition, name: 'a"?\n  $ true\n', endpoint }, '/work');
  expect([confirmation.title, ...(confirmation.warnings ?? [])].filter((line) => line.includes('\n'))).toEqual([]);
  expect(serverConsent(definition, '/work').confirmation.title).toBe(
    'Let plugin notes connect to the MCP server "notes"?',
  );
});
