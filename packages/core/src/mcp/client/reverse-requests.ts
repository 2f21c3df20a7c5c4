import { pathToFileURL } from 'node:url';
import type {
  Client,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
} from '@modelcontextprotocol/client';
import { sanitizeDescription } from '../../text/sanitize-definition.js';

/** A question of a server to the user. */
export type Elicitation = { server: string; message: string } & (
  | { type: 'form'; schema: Readonly<Record<string, unknown>> }
  /** Asks the user to open a page; the server gets only yes or no. */
  | { type: 'url'; url: string }
);

/** What a person answered to a question of an MCP server. */
export type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

type Elicit = (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** The requests of servers that the front end answers. A missing handler is not offered to servers. */
export interface ReverseRequests {
  elicit?: Elicit;
  /** Lets a server use the user's model. The handler must ask the user and enforce a budget. */
  sample?: (
    server: string,
    params: CreateMessageRequest['params'],
    signal: AbortSignal,
  ) => Promise<CreateMessageResult>;
}

export function capabilitiesFor({ elicit, sample }: ReverseRequests): ClientCapabilities {
  return {
    roots: {},
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample && { sampling: {} }),
  };
}

/** Answers a server's requests for the workspace folders, the user and the model, and no others. */
export function answerServer(
  client: Client,
  { server, roots, handlers }: { server: string; roots: readonly string[]; handlers: ReverseRequests },
): void {
  client.setRequestHandler('roots/list', async () => ({
    roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  const { sample } = handlers;
  const elicit = handlers.elicit && throttled(handlers.elicit);
  if (elicit)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const message = sanitizeDescription(params.message);
      if (params.mode === 'url')
        return webAddress(params.url)
          ? elicit({ type: 'url', server, message, url: params.url }, mcpReq.signal)
          : decline;
      return elicit({ type: 'form', server, message, schema: params.requestedSchema }, mcpReq.signal);
    });
  if (sample)
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      sample(server, params, mcpReq.signal),
    );
}

/**
 * Allows one question at a time, with a pause that doubles after each one the user cancels, so that a server cannot
 * block the screen with questions.
 */
function throttled(elicit: Elicit): Elicit {
  let isAsking = false;
  let cancelled = 0;
  let pausedUntil = 0;
  return async (request, signal) => {
    if (isAsking || performance.now() < pausedUntil) return { action: 'cancel' };
    isAsking = true;
    try {
      const answer = await elicit(request, signal);
      cancelled = answer.action === 'cancel' ? cancelled + 1 : 0;
      pausedUntil = cancelled === 0 ? 0 : performance.now() + firstPauseMs * 2 ** cancelled;
      return answer;
    } finally {
      isAsking = false;
    }
  };
}

const firstPauseMs = 500;
const decline = { action: 'decline' } as const;

function webAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
