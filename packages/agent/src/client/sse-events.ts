/** One server-sent event. */
export interface SseEvent {
  id: string;
  data: string;
}

/** Reads server-sent events from the body of a response. */
export async function* sseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parse(block);
        if (event.data !== '') yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): SseEvent {
  const event = { id: '', data: '' };
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4);
    if (line.startsWith('data: ')) event.data += line.slice(6);
  }
  return event;
}
