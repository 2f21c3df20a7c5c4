import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ModelError } from '../model-error.js';
import { describeConnectionError } from './connection-error.js';

/** Connects to `target` through a tunnel of an HTTP proxy, so that the proxy sees neither key nor text. */
export async function connectThrough(proxy: URL, target: URL, signal: AbortSignal): Promise<Socket> {
  const isSecure = target.protocol === 'https:';
  const socket = await openTunnel(proxy, `${target.hostname}:${target.port || (isSecure ? 443 : 80)}`, signal);
  return isSecure ? connectTls({ socket, servername: target.hostname, ALPNProtocols: ['http/1.1'] }) : socket;
}

function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  const request = httpRequest({
    host: proxy.hostname,
    port: proxy.port || 80,
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...credentialsOf(proxy) },
    agent: false,
    timeout: 20_000,
    signal,
  });
  return new Promise((resolve, reject) => {
    request.once('connect', (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(rejection(proxy, response.statusCode));
    });
    // A proxy without CONNECT answers like any server.
    request.once('response', (response) => {
      request.destroy();
      reject(rejection(proxy, response.statusCode));
    });
    request.once('timeout', () => request.destroy(new ModelError('timeout', `The proxy ${proxy.host} is silent.`)));
    request.once('error', (error) => reject(signal.aborted ? signal.reason : describeConnectionError(error, proxy)));
    request.end();
  });
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function rejection(proxy: URL, status = 0): ModelError {
  const advice = status === 407 ? ' It needs a user name and a password in its address.' : '';
  const message = `The proxy ${proxy.host} refused to connect (${status}).${advice}`;
  return new ModelError('network', message, { status, isTransient: status >= 500 });
}
