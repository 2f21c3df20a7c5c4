import { Readable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { Flags } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import type { EditorSession } from './editor-session.js';
import { EditorSessions } from './editor-sessions.js';

const exitDelayMs = 1000;

/** Serves one editor on stdin and stdout until it goes away. */
export async function runAcp(flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const sessions = new EditorSessions(flags, io);
  const app = editorAgent(sessions, io.version);
  const gone = new AbortController();
  const stream = ndJsonStream(takeStdout(gone), bytesOf(io.stdin));
  const connection = app.connect(stream);
  AbortSignal.any([signal, gone.signal]).addEventListener('abort', () => connection.close());
  await connection.closed;
  await sessions.closeAll();
  // Output that nobody reads would keep the process alive.
  setTimeout(() => process.exit(), exitDelayMs).unref();
  return exitCodes.success;
}

function editorAgent(sessions: EditorSessions, version: string) {
  const { session } = methods.agent;
  return agent({ name: 'lathe' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'lathe', title: 'Lathe', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(
      session.new,
      explained(async ({ params, client, signal }) => {
        const opened = await sessions.create(params, client, signal);
        return { sessionId: opened.id, ...introduced(opened) };
      }),
    )
    .onRequest(
      session.load,
      explained(async ({ params, client, signal }) => {
        const opened = await sessions.restore(params.sessionId, params, client, signal);
        await opened.replay();
        return introduced(opened);
      }),
    )
    .onRequest(
      session.resume,
      explained(async ({ params, client, signal }) =>
        introduced(await sessions.restore(params.sessionId, params, client, signal)),
      ),
    )
    .onRequest(
      session.list,
      explained(({ params }) => sessions.list(params.cwd)),
    )
    .onRequest(
      session.close,
      explained(async ({ params }) => {
        await sessions.close(sessions.get(params.sessionId).id);
        return {};
      }),
    )
    .onRequest(
      session.delete,
      explained(async ({ params }) => {
        await sessions.remove(params.sessionId);
        return {};
      }),
    )
    .onRequest(
      session.setMode,
      explained(async ({ params, signal }) => {
        await sessions.get(params.sessionId).choose('mode', params.modeId, signal);
        return {};
      }),
    )
    .onRequest(
      session.setConfigOption,
      explained(async ({ params, signal }) => ({
        configOptions: await sessions.get(params.sessionId).choose(params.configId, params.value, signal),
      })),
    )
    .onRequest(
      session.prompt,
      explained(async ({ params, signal }) => ({
        stopReason: await sessions.get(params.sessionId).prompt(params.prompt, signal),
      })),
    )
    .onNotification(session.cancel, ({ params }) => sessions.get(params.sessionId).cancel());
}

/** The editor knows the session only when it has the answer. */
function introduced(session: EditorSession) {
  setImmediate(() => void session.announce());
  return session.state();
}

/** An editor shows the message of an error, so it says what happened. */
function explained<C, R>(handler: (context: C) => Promise<R>): (context: C) => Promise<R> {
  return async (context) => {
    try {
      return await handler(context);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw RequestError.internalError(undefined, errorMessage(error));
    }
  };
}

/** Whatever else writes to stdout, such as the code of a tool file, goes to stderr. */
function takeStdout(gone: AbortController): WritableStream<Uint8Array> {
  const { stdout, stderr } = process;
  const write: (chunk: Uint8Array, done: (error?: Error | null) => void) => boolean = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // The end of the reader must end the sessions before it ends the process.
  stdout.removeAllListeners('error');
  stdout.on('error', () => gone.abort());
  return new WritableStream({
    write: (chunk) => new Promise((resolve, reject) => write(chunk, (error) => (error ? reject(error) : resolve()))),
  });
}

function bytesOf(stdin: NodeJS.ReadStream): ReadableStream<Uint8Array> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stdin without an encoding yields bytes
  return Readable.toWeb(stdin) as ReadableStream<Uint8Array>;
}
