// Many requests to an HTTP server over kept connections: how long the slowest of a hundred takes.
import { request } from 'node:http';

/**
 * Sends `count` equal requests over `connections` connections, each of which sends the next one when it has the answer.
 * @returns {Promise<{ p99: number, failures: number }>} milliseconds, and how many answers failed
 */
export async function load({ url, headers, body, count, connections, agent }) {
  const times = [];
  let failures = 0;
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const begin = performance.now();
      const { status } = await send({ url, headers, body, agent });
      times.push(performance.now() - begin);
      if (status !== 200) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  times.sort((a, b) => a - b);
  return { p99: times[Math.floor(times.length * 0.99)], failures };
}

/** One request, read to its end. */
export function send({ url, headers, body, agent }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on('error', (error) => {
      // A server may close a kept connection at the moment it is used again; then the request is sent once more.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(send({ url, headers, body, agent }));
      else reject(error);
    });
    sent.end(body);
  });
}
