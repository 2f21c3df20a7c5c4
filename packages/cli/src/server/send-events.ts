import type { ServerResponse } from 'node:http';
import type { EventLog } from './event-log.js';

const heartbeatMs = 15_000;

/**
 * Sends the events after `after`, then each new one, until the reader goes. A slow reader holds up nobody and takes no
 * memory: the log keeps its place, and it gets a `gap` if the log had to drop what it has not read. One that reads
 * nothing for half a minute is disconnected.
 */
export function sendEvents(log: EventLog, response: ServerResponse, after: number): void {
  let last = after;
  let isStuck = false;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': events follow\n\n');
  const send = () => {
    while (!response.writableNeedDrain && !response.destroyed) {
      const event = log.next(last);
      if (!event) return;
      if (event.hasGap) response.write('data: {"type":"gap"}\n\n');
      response.write(`id: ${event.id}\ndata: ${event.json}\n\n`);
      last = event.id;
    }
  };
  const stop = log.onAdd(send);
  const heartbeat = setInterval(() => {
    if (isStuck && response.writableNeedDrain) return void response.destroy();
    isStuck = response.writableNeedDrain;
    if (!isStuck) response.write(': still here\n\n');
  }, heartbeatMs);
  response.on('drain', () => {
    isStuck = false;
    send();
  });
  response.on('close', () => {
    stop();
    clearInterval(heartbeat);
  });
  send();
}
