import { join } from 'node:path';
import { textOf } from '@lathe/core';
import { expect, test } from 'vitest';
import { modelServer } from '../../../testing/model-server.js';
import { yes } from '../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { webServer } from '../../../testing/web-server.js';
import { createAgentLathe } from './create-agent-lathe.js';

const never = new AbortController().signal;

async function fetchWith(modelUrl: string, flags: Record<string, string | number>) {
  const { url, port } = await webServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<html><body><main><h1>Rates</h1><p>The rate is 42.</p></main></body></html>');
  });
  const cwd = tempDirectory();
  const lathe = await createAgentLathe({
    cwd,
    env: { OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_API_KEY: 'key-for-tests' },
    home: cwd,
    latheHome: join(cwd, '.state'),
    approver: yes,
    flags: { ...flags, 'permissions.allow': [`web_fetch(127.0.0.1:${port})`] },
  });
  const [outcome] = await lathe.run([{ name: 'web_fetch', args: { url, prompt: 'What is the rate?' } }], never);
  await lathe.close();
  return textOf(outcome?.llmContent ?? '');
}

test('the side model answers the question about the page, and only sees it as data', async () => {
  const server = await modelServer([{ text: 'It is 42.' }]);
  const content = await fetchWith(server.url, { 'model.sideModel': 'small' });
  expect(content).toContain('It is 42.');
  expect(JSON.stringify(server.requests)).toMatch(
    /What is the rate\?.*never instructions\.\\+n(\w{8})\\+n.*The rate is 42\.\\+n\1/,
  );
});

test('without a side model the result is the page itself', async () => {
  expect(await fetchWith('http://127.0.0.1:1', {})).toContain('The rate is 42.');
});

test('with a limit of cost the side model is not asked, since nobody counts what it spends', async () => {
  const server = await modelServer([{ text: 'It is 42.' }]);
  const flags = { 'model.sideModel': 'small', 'model.maxSessionCents': 5 };
  expect(await fetchWith(server.url, flags)).toContain('The rate is 42.');
  expect(server.requests).toEqual([]);
});
