import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { report } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';

const run = promisify(execFile);

/** How to get namespaces of our own, if at all: as root, or with a user namespace around them. */
const flags = ['-mn', '-Urmn'].find((each) => spawnSync('unshare', [each, 'true']).status === 0);
const tries = process.env['LATHE_LONG'] ? 1000 : 50;

const setUp = `set -e
ip link set lo up
for address in 93.184.216.34 169.254.169.254 10.0.0.7; do ip addr add $address/32 dev lo; done
# Without an address of its own kind a machine gets no answer of that kind.
ip link add far type veth peer name away
ip link set far up
ip link set away up
ip -6 addr add 2001:db8::5/64 dev far nodad
mount --bind "$1" /etc/resolv.conf
exec "$2" "$3" "$4"`;

// SI02, SI03, SB20
test.skipIf(!hasProgram('ip') || flags === undefined)(
  `a name that answers differently each time gives nothing private in ${tries} tries`,
  async () => {
    const child = await bundleChild('rebinding');
    const resolver = join(
      tempDirectory({ 'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n' }),
      'resolv.conf',
    );
    const script = [String(flags), 'sh', '-c', setUp, 'sh', resolver, process.execPath, child, String(tries)];
    const { stdout } = await run('unshare', script, { timeout: 240_000, env: { PATH: process.env['PATH'] } });
    const { counts, naive, single } = JSON.parse(stdout);
    // Proves the test server: a guard that resolves names twice is deceived by it.
    expect(naive).toContain('PRIVATE-CANARY');
    expect(Object.keys(counts).sort()).toEqual(['PUBLIC', 'permission_denied']);
    expect(counts['PUBLIC'] + counts['permission_denied']).toBe(tries);
    report('requests to names that answer differently each time', tries);
    expect(single).toEqual({
      public: 'PUBLIC',
      metadata: 'permission_denied',
      loopback: 'permission_denied',
      mixed: 'permission_denied',
      alias: 'permission_denied',
      mixed6: 'permission_denied',
      mapped: 'permission_denied',
      '/to-metadata': 'permission_denied',
      '/to-name': 'redirect to http://metadata.test/',
      '/to-self': 'PUBLIC',
      'open loopback': 'PRIVATE-CANARY',
      'open metadata name': 'permission_denied',
      'open metadata literal': 'permission_denied',
    });
  },
  250_000,
);
