import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AwsV4Signer } from 'aws4fetch';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hasRedis, startRedis } from '../../../../testing/queue-servers.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Board } from '../queue/board.js';
import { openEngine } from '../queue/engine.js';
import { openStore } from './open-store.js';
import { getObject, putObject, type Store } from './store.js';

vi.setConfig({ testTimeout: 120_000 });

/** Set by scripts/fleet-servers.mjs, which installs an S3 server that is not ours. */
const installed = process.env['LATHE_FLEET_SERVERS'];
const noBoard: Board = Object.create(null);

/** What every store must do. */
async function keeps(store: Store, count: number): Promise<void> {
  expect(await store.get('sessions/a/1')).toBeUndefined();
  expect(await store.list('sessions/a/')).toEqual([]);
  const bytes = Buffer.from([0, 255, 10, 13, 200]);
  const hash = await putObject(store, bytes);
  expect(await getObject(store, hash)).toEqual(bytes);
  await putObject(store, bytes);
  await store.put(`objects/${hash}`, Buffer.from('changed'));
  await expect(getObject(store, hash)).rejects.toThrow(`the object ${hash} is damaged`);
  await expect(getObject(store, 'f'.repeat(64))).rejects.toThrow('the store has no object');
  await expect(getObject(store, '../../etc/passwd')).rejects.toThrow('is not the hash of an object');
  const names = Array.from({ length: count }, (_, at) => `00000001-${String(at).padStart(8, '0')}`);
  for (let at = 0; at < count; at += 20)
    await Promise.all(names.slice(at, at + 20).map((name) => store.put(`sessions/b/${name}`, Buffer.from(name))));
  expect((await store.list('sessions/b/')).sort()).toEqual(names);
  expect((await store.get(`sessions/b/${names[0]}`))?.toString()).toBe(names[0]);
}

test('a directory keeps objects', async () => {
  const store = await openStore(tempDirectory(), noBoard, {});
  await keeps(store, 20);
  expect(await store.list('objects/')).toHaveLength(1);
});

test.skipIf(!hasRedis)('the server of the queue keeps objects, up to a size', async () => {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const engine = await openEngine(server.url, () => undefined);
  onTestFinished(() => engine.close());
  const store = await openStore(undefined, engine.board, {});
  await keeps(store, 20);
  await expect(store.put('objects/x', Buffer.alloc(33 << 20))).rejects.toThrow('33 MB are too much');
});

interface S3Server {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

test.skipIf(installed === undefined)('a bucket of an S3 server that is not ours keeps objects', async () => {
  const program = pathToFileURL(join(installed ?? '', 'node_modules/s3rver/lib/s3rver.js')).href;
  const { default: S3rver }: { default: new (options: object) => S3Server } = await import(program);
  const directory = tempDirectory();
  const buckets = [{ name: 'patches', configs: [] }];
  const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: buckets });
  const { port } = await server.run();
  onTestFinished(() => server.close());
  const env = {
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  };
  await keeps(await openStore('s3://patches/some/prefix', noBoard, env), 30);
  await keeps(await openStore('s3://patches', noBoard, env), 3);
  const stranger = await openStore('s3://patches', noBoard, { ...env, AWS_ACCESS_KEY_ID: 'nobody' });
  await expect(stranger.put('objects/x', Buffer.from('x'))).rejects.toThrow('the store answered 403');
  const missing = await openStore('s3://nowhere', noBoard, env);
  await expect(missing.put('objects/x', Buffer.from('x'))).rejects.toThrow('the store has no bucket nowhere');
});

// The server above does not check signatures, so what signs is checked by the example that Amazon publishes for S3.
test('requests are signed as Amazon says', async () => {
  const signer = new AwsV4Signer({
    url: 'https://examplebucket.s3.amazonaws.com/test.txt',
    headers: {
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    },
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    service: 's3',
    datetime: '20130524T000000Z',
    allHeaders: true,
  });
  const signature = 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41';
  expect((await signer.sign()).headers.get('authorization')).toContain(`Signature=${signature}`);
});

test('an S3 store without keys says which variables it needs', async () => {
  await expect(openStore('s3://patches', noBoard, {})).rejects.toThrow('AWS_ACCESS_KEY_ID');
});
