import { expect, test } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { canInject, runWithFault } from '../../../../testing/thread-fault.js';

// SB09
test.skipIf(!canInject).each(['EACCES', 'ELOOP', 'ENAMETOOLONG', 'EIO'])(
  'a path whose real place cannot be found out because of %s is refused',
  { timeout: 120_000 },
  async (errno) => {
    const script = await bundleChild('locate-path');
    const root = tempDirectory({ 'a.txt': '' });
    const locate = async (inject?: string) =>
      (await runWithFault(script, [root, 'a.txt'], inject === undefined ? {} : { inject })).answer;
    expect(await locate()).toEqual({ status: 'located' });
    expect(await locate(`readlink,readlinkat,lstat,newfstatat:error=${errno}`)).toEqual({
      status: 'failed',
      type: expect.stringMatching(/^(permission_denied|read_content_failure)$/),
      message: expect.stringContaining('a.txt'),
    });
  },
);
