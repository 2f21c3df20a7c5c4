import { expect, test } from 'vitest';
import { ToolError } from '../contract/errors.js';
import { readFailure } from './fs-error.js';

const failure = (code: string) => Object.assign(new Error(code), { code });

// RR11 RR12
test.each([
  ['ENOENT', 'file_not_found'],
  ['ENOTDIR', 'file_not_found'],
  ['EACCES', 'permission_denied'],
  ['EPERM', 'permission_denied'],
  ['EISDIR', 'target_is_directory'],
  ['ELOOP', 'read_content_failure'],
  ['ENAMETOOLONG', 'read_content_failure'],
  ['EIO', 'read_content_failure'],
  ['ESTALE', 'read_content_failure'],
])('%s is %s', (code, type) => {
  const error = failure(code);
  expect(readFailure(error, '/f')).toMatchObject({ type, cause: error, message: expect.stringContaining('/f') });
});

test('an error that is not a failed system call stays as it is', () => {
  for (const error of [new Error('bug'), new ToolError('unknown', 'x'), failure('ERR_INVALID_ARG_TYPE'), 'text'])
    expect(readFailure(error, '/f')).toBe(error);
});
