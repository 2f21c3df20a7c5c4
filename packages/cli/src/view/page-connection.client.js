// Talks to `lathe serve --agent`. The token comes in the fragment of the address, which browsers never send.
const fragment = () => new URLSearchParams(location.hash.slice(1));

export const chosenSession = () => fragment().get('session') ?? '';

/** Keeps token and session in the address, so that a reload shows the same. */
export function setFragment(values) {
  const next = new URLSearchParams({ ...Object.fromEntries(fragment()), ...values });
  history.replaceState(null, '', `#${next}`);
}

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function send(method, path, { body, headers, signal }) {
  const response = await fetch(`/v1/sessions${path}`, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${fragment().get('token') ?? ''}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => undefined);
  throw new ApiError(response.status, problem?.error?.message ?? response.statusText);
}

export async function request(method, path, body) {
  return JSON.parse((await (await send(method, path, { body })).text()) || 'null');
}

/** Events of a session from the first that the server has. Connects again after a cut, and goes on where it was. */
export async function* events(id, { signal, onConnection }) {
  for (let last = 0; !signal.aborted; ) {
    try {
      const headers = { 'last-event-id': String(last) };
      const { body } = await send('GET', `/${id}/events`, { headers, signal });
      onConnection(true);
      for await (const { number, data } of blocks(body)) {
        last = Number(number ?? last);
        yield { ...JSON.parse(data), id: last };
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
    }
    if (signal.aborted) return;
    onConnection(false);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function* blocks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data) yield { number: /^id: (\d+)$/m.exec(part)?.[1], data };
    }
  }
}
