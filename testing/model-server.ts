import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { anthropicEvents, geminiEvents, openaiEvents } from './model-wire.js';
import { responsesEvents } from './responses-wire.js';

/** What the scripted server answers to one request. */
export interface ServerTurn {
  text?: string;
  reasoning?: string;
  calls?: { id?: string; name: string; args?: unknown }[];
  /** Defaults to what fits: calls or stop. `length` cuts the last call in the middle. */
  finish?: 'stop' | 'calls' | 'length' | 'filter';
  usage?: { input: number; output: number; cached?: number; reasoning?: number };
  fault?: ServerFault;
}

/** What goes wrong with it. Bytes count from the beginning of the body. */
export type ServerFault =
  /** The connection is torn down after so many bytes. */
  | { kind: 'reset'; afterBytes: number }
  /** The connection stays open, but nothing more arrives. */
  | { kind: 'stall'; afterBytes: number }
  /** The body ends properly but too early. */
  | { kind: 'end'; afterBytes: number }
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  /** Exactly these bytes, with status 200. */
  | { kind: 'raw'; body: string | Uint8Array; headers?: Record<string, string> }
  /** Everything arrives, a few bytes at a time. */
  | { kind: 'slow'; bytes: number; everyMs: number }
  /** Compressed, of which only the first bytes arrive. */
  | { kind: 'gzip'; afterBytes?: number };

export interface ServerRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** The parsed body; empty when it was not a JSON object. */
  body: { readonly [key: string]: unknown };
}

export interface ModelServer {
  /** `http://127.0.0.1:port`; add `/v1` for OpenAI (both formats) and Anthropic, `/v1beta` for Gemini. */
  url: string;
  requests: ServerRequest[];
  /** The port each request came from: the same one again means a kept connection. */
  ports: number[];
  /** The bodies sent so far, to record a stream. */
  bodies: string[];
  close(): Promise<void>;
}

export type ServerScript = (ServerTurn | ((request: ServerRequest) => ServerTurn))[];

/**
 * A model server on loopback that follows a script, one turn per request (the last one repeats), over real HTTP in the
 * four wire formats: `…/chat/completions`, `…/responses`, `…/messages`, `…:streamGenerateContent`. It lists `models` at
 * `…/models`. Closed after the test that called it, unless `keep` is set (then call `close`).
 */
export async function modelServer(
  script: ServerScript,
  options: { keep?: boolean; host?: string; models?: readonly string[] } = {},
): Promise<ModelServer> {
  const requests: ServerRequest[] = [];
  const bodies: string[] = [];
  const ports: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      if (method === 'GET' && path.endsWith('/models')) return list(response, options.models);
      const received = { method, path, headers, body: parse(text) };
      requests.push(received);
      ports.push(request.socket.remotePort ?? 0);
      const step = script[Math.min(requests.length, script.length) - 1] ?? {};
      const turn = typeof step === 'function' ? step(received) : step;
      const body = bodyOf(turn, received, requests.length);
      bodies.push(body);
      answer(response, turn, body);
    });
  });
  const { host = '127.0.0.1' } = options;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  if (!options.keep) onTestFinished(close);
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, requests, bodies, ports, close };
}

function list(response: ServerResponse, models: readonly string[] | undefined): void {
  response.writeHead(models ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ data: models?.map((id) => ({ id })) }));
}

function bodyOf(turn: ServerTurn, { path, body }: ServerRequest, count: number): string {
  const model = typeof body['model'] === 'string' ? body['model'] : 'scripted';
  const eventsOf =
    path.includes('generateContent') || path.includes('GenerateContent')
      ? geminiEvents
      : path.includes('/messages')
        ? anthropicEvents
        : path.includes('/responses')
          ? responsesEvents
          : openaiEvents;
  return eventsOf(turn, model, count).join('');
}

function answer(response: ServerResponse, { fault }: ServerTurn, body: string): void {
  const bytes = Buffer.from(body);
  const sse = { 'content-type': 'text/event-stream' };
  switch (fault?.kind) {
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body ?? JSON.stringify({ error: { message: `scripted ${fault.status}` } }));
      return;
    case 'raw':
      response.writeHead(200, { ...sse, ...fault.headers });
      response.end(fault.body);
      return;
    case 'gzip': {
      const packed = gzipSync(bytes);
      response.writeHead(200, { ...sse, 'content-encoding': 'gzip' });
      response.end(packed.subarray(0, fault.afterBytes ?? packed.length));
      return;
    }
    case 'end':
      response.writeHead(200, sse);
      response.end(bytes.subarray(0, fault.afterBytes));
      return;
    case 'reset':
    case 'stall':
      response.writeHead(200, sse);
      response.flushHeaders();
      response.write(bytes.subarray(0, fault.afterBytes), () => {
        // A moment, so that what was written is delivered before the reset discards it.
        if (fault.kind === 'reset') setImmediate(() => response.socket?.resetAndDestroy());
      });
      return;
    case 'slow':
      response.writeHead(200, sse);
      return drip(response, bytes, fault);
    case undefined:
      response.writeHead(200, sse);
      response.end(bytes);
  }
}

function drip(response: ServerResponse, bytes: Buffer, pace: { bytes: number; everyMs: number }): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + pace.bytes));
    sent += pace.bytes;
    if (sent >= bytes.length) response.end();
  }, pace.everyMs);
  response.on('close', () => clearInterval(timer));
}

function parse(text: string): ServerRequest['body'] {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
