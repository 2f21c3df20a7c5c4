import { pathToFileURL } from 'node:url';
import type {
  Client,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
} from '@modelcontextprotocol/client';
import { sanitizeDescription } from '../../text/sanitize-definition.js';

/** A server asks the person something. */
export type Elicitation = { server: string; message: string } & (
  | { type: 'form'; schema: Readonly<Record<string, unknown>> }
  /** The person is asked to open a page; the server hears nothing but yes or no. */
  | { type: 'url'; url: string }
);

/** What a person answered to a question of an MCP server. */
export type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

type Elicit = (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** The front end's half of what servers may ask for. What is left out is not offered to any server. */
export interface ReverseRequests {
  elicit?: Elicit;
  /** Lets a server use the person's model. Off unless given; whoever gives it asks the person and keeps a budget. */
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

/** Answers a server's questions: which folders, what the person says, what the model says. Nothing else. */
export function answerServer(
  client: Client,
  { server, roots, handlers }: { server: string; roots: readonly string[]; handlers: ReverseRequests },
): void {
  client.setRequestHandler('roots/list', async () => ({
    roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  const { sample } = handlers;
  const elicit = handlers.elicit && patient(handlers.elicit);
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
 * One question of a server at a time, and a pause that doubles whenever the person wants no more: a server that asks
 * without end must not take the screen from them.
 */
function patient(elicit: Elicit): Elicit {
  let isAsking = false;
  let cancelled = 0;
  let deafUntil = 0;
  return async (request, signal) => {
    if (isAsking || performance.now() < deafUntil) return { action: 'cancel' };
    isAsking = true;
    try {
      const answer = await elicit(request, signal);
      cancelled = answer.action === 'cancel' ? cancelled + 1 : 0;
      deafUntil = cancelled === 0 ? 0 : performance.now() + firstPauseMs * 2 ** cancelled;
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
