import { expect, onTestFinished, test, vi } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { createLathe } from '../../lathe/create-lathe.js';
import { CommandRunner } from './run-command.js';

test.each(['Bun', 'Deno'])('on %s Lathe refuses to start and names the runtime it needs', async (name) => {
  const home = tempDirectory();
  vi.stubGlobal(name, {});
  onTestFinished(() => void vi.unstubAllGlobals());
  const message = `Lathe does not run on ${name}: start this program with Node.js 20.19 or newer.`;
  expect(() => new CommandRunner(new LatheHome(home))).toThrow(message);
  await expect(createLathe({ cwd: home, env: {}, home })).rejects.toThrow(message);
});
