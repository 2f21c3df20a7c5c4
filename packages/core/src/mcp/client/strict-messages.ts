import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';

/**
 * Passes on a response only if its id equals that of an open request, type included: the SDK treats `"1"` as `1`, so it
 * could match the response to another request. Drops duplicate, late and unrequested responses.
 */
export function strictMessages<T extends Transport>(transport: T): T {
  const open = new Set<RequestId>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    return send(withoutEmptyCursor(message), options);
  };
  const accepts = (message: JSONRPCMessage): boolean =>
    'method' in message || (message.id !== undefined && open.delete(message.id));
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set: (next: Transport['onmessage']) => {
      handler = next && ((message, extra) => (accepts(message) ? next(message, extra) : undefined));
    },
  });
  return transport;
}

/** The SDK fetches a single page only if the caller passes a cursor, and the first page has none. */
function withoutEmptyCursor(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.['cursor'] !== '') return message;
  const { cursor: _, ...params } = message.params;
  return { ...message, params };
}
