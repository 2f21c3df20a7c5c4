import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

function options(more: object = {}) {
  return { cwd: tempDirectory(), env: {}, home: tempDirectory(), latheHome: tempDirectory(), ...more };
}

test('nothing runs after close', async () => {
  const lathe = await createLathe(options());
  await lathe.close();
  expect(() => lathe.run([{ name: 'list_directory' }], never)).toThrow('No call can be run: this was closed');
});

test.each([
  [{ cwd: 'relative' }, 'cwd must be an absolute path, not "relative"'],
  [{ cwd: '/no/such/directory' }, 'cwd is no directory: /no/such/directory'],
  [
    { flags: { 'tools.aprovalMode': 'yolo' } },
    'there is no setting tools.aprovalMode. Did you mean tools.approvalMode?',
  ],
])('%j is refused', async (more, message) => {
  await expect(createLathe(options(more))).rejects.toThrow(message);
});
