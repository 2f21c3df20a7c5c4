import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { GuardedHttp } from '../../packages/core/src/web/http/guarded-http.js';
import { selfSigned } from '../self-signed.js';

/** Names an authority as a file of a project could, after the start, and prints what a server it vouches for answers. */
process.env['NODE_EXTRA_CA_CERTS'] = process.argv[2];
const server = createServer(selfSigned, (_request, response) => response.end('secret'));
server.listen(0, '127.0.0.1', () => {
  const http = new GuardedHttp({ isOpen: () => true });
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/`);
  void http
    .send({ url }, new AbortController().signal)
    .then((answer) => String(answer.type === 'redirect' ? answer.type : answer.status))
    .catch((error: unknown) => String(error))
    .then((said) => process.stdout.write(said, () => process.exit()));
});
