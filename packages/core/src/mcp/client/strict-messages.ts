import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';

/**
 * Lets an answer through only when its id is that of a question still open, of the same type: the SDK takes `"1"` for
 * `1`, and so would match an answer to somebody else's question. Answers that came twice, too late or unasked are
 * dropped and counted.
 */
export function strictMessages<T extends Transport>(transport: T): { transport: T; dropped: () => number } {
  const open = new Set<RequestId>();
  let dropped = 0;
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    return send(withoutEmptyCursor(message), options);
  };
  const accepts = (message: JSONRPCMessage): boolean => {
    if ('method' in message) return true;
    if (message.id !== undefined && open.delete(message.id)) return true;
    dropped++;
    return false;
  };
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set: (next: Transport['onmessage']) => {
      handler = next && ((message, extra) => (accepts(message) ? next(message, extra) : undefined));
    },
  });
  return { transport, dropped: () => dropped };
}

/** The SDK fetches single pages only for callers who name a cursor; the first page has none. */
function withoutEmptyCursor(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.['cursor'] !== '') return message;
  const { cursor: _, ...params } = message.params;
  return { ...message, params };
}
