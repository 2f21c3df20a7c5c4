import { AwsClient } from 'aws4fetch';
import type { Store } from './store.js';

/** Keeps objects in a bucket, with the usual variables: `AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL` … */
export function openS3Store(place: string, env: Readonly<Record<string, string | undefined>>): Store {
  const { hostname: bucket, pathname } = new URL(place);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error('the store needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`;
  const identity = { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) };
  const client = new AwsClient({ ...identity, region, service: 's3' });
  const root = `${endpoint.replace(/\/$/, '')}/${bucket}`;
  const folder = pathname.replace(/^\/|\/$/g, '');
  const keyOf = (key: string) => (folder === '' ? key : `${folder}/${key}`);
  const fetch = async (url: string, init: RequestInit = {}) => {
    // A connection that was kept may be closed by the server at that moment. All requests can be repeated.
    const response = await client.fetch(url, init).catch(() => client.fetch(url, init));
    if (response.ok || response.status === 404) return response;
    throw new Error(`the store answered ${response.status} ${response.statusText}`);
  };
  return {
    async put(key, bytes) {
      const response = await fetch(`${root}/${keyOf(key)}`, { method: 'PUT', body: Buffer.from(bytes) });
      if (response.status === 404) throw new Error(`the store has no bucket ${bucket}`);
    },
    async get(key) {
      const response = await fetch(`${root}/${keyOf(key)}`);
      return response.status === 404 ? undefined : Buffer.from(await response.arrayBuffer());
    },
    async list(prefix) {
      const names: string[] = [];
      for (let next: string | undefined = ''; next !== undefined; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix: keyOf(prefix) });
        if (next !== '') query.set('continuation-token', next);
        const text = await (await fetch(`${root}?${query.toString()}`)).text();
        for (const [, key = ''] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) names.push(key.slice(keyOf(prefix).length));
        [, next] = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text) ?? [];
      }
      return names;
    },
  };
}
