import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { reportOn } from './command-report.js';
import { childEnvironment } from './environment.js';
import { CommandRunner } from './run-command.js';

// RS14
test('a process that the kernel could not remove is named', async () => {
  const runner = new CommandRunner(new LatheHome(tempDirectory()));
  const request = { command: 'echo a', cwd: tempDirectory(), env: childEnvironment(process.env) };
  const result = await runner.run(request, { timeoutMs: 20_000, signal: new AbortController().signal });
  const options = { command: 'echo a', directory: '(root)', lastWords: ['echo', 'a'] };
  expect(reportOn({ ...result, survivors: [4242] }, options).text).toContain('Error: Could not kill process 4242.');
  const timeout = { type: 'timeout', ms: 5 } as const;
  expect(reportOn({ ...result, ending: timeout, survivors: [4242] }, options).text).toBe(
    'Command timed out after 5 ms. Could not kill process 4242. Output until then:\na',
  );
});
