import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface WebServer {
  /** `http://127.0.0.1:port` */
  url: string;
  port: number;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A real HTTP server on loopback, closed after the test that called it. */
export async function webServer(handler: Handler): Promise<WebServer> {
  const requests: WebServer['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      handler(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

/** A server that speaks bytes of its own, for answers that no HTTP library would send. */
export async function rawServer(answer: (socket: Socket) => void): Promise<{ url: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

/** Answers every path with the same page. */
export function page(body: string | Uint8Array, contentType = 'text/html; charset=utf-8'): Handler {
  return (_request, response) => response.writeHead(200, { 'content-type': contentType }).end(body);
}

export const never = new AbortController().signal;
