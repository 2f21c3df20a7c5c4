import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { estimateTokens } from './models/estimate-tokens.js';

/** With a search engine configured, so that every built-in tool is there. */
async function declarations() {
  const directory = tempDirectory();
  const lathe = await createAgentLathe({
    cwd: directory,
    env: {},
    home: directory,
    latheHome: join(directory, '.lathe'),
    flags: { 'webSearch.provider': [{ type: 'searxng', baseUrl: 'http://127.0.0.1:1' }] },
  });
  await lathe.close();
  return lathe.tools.getFunctionDeclarations();
}

test('the descriptions of the built-in tools that every model gets', async () => {
  expect(await declarations()).toMatchSnapshot();
});

test('declarations stay small', async () => {
  const list = await declarations();
  const tokens = estimateTokens(JSON.stringify(list));
  // Our estimate is about a third above what o200k counts, and the goal is 130 of those.
  expect(tokens / list.length).toBeLessThanOrEqual(170);
});
