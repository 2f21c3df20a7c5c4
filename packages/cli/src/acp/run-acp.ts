import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { protocolInput, protocolOutput } from '../command-line/protocol-streams.js';
import { EditorSessions } from './editor-sessions.js';

/** Serves one editor on stdin and stdout until it goes away. */
export async function runAcp(flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const sessions = new EditorSessions(flags, io);
  const gone = new AbortController();
  const stream = ndJsonStream(
    protocolOutput(() => gone.abort()),
    protocolInput(io.stdin),
  );
  const connection = editorAgent(sessions, io.version).connect(stream);
  AbortSignal.any([signal, gone.signal]).addEventListener('abort', () => connection.close());
  await connection.closed;
  await sessions.closeAll();
  // Output that nobody reads would keep the process alive.
  setTimeout(() => process.exit(), 1000).unref();
  return exitCodes.success;
}

function editorAgent(sessions: EditorSessions, version: string) {
  const { initialize, session } = methods.agent;
  return agent({ name: 'lathe' })
    .onRequest(initialize, ({ params }) => {
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
    .onRequest(session.new, (context) => sessions.create(context))
    .onRequest(session.load, (context) => sessions.restore(context, { isReplayed: true }))
    .onRequest(session.resume, (context) => sessions.restore(context, { isReplayed: false }))
    .onRequest(session.list, ({ params }) => sessions.list(params.cwd))
    .onRequest(session.close, ({ params }) => sessions.close(sessions.get(params).id))
    .onRequest(session.delete, ({ params }) => sessions.remove(params.sessionId))
    .onRequest(session.setMode, async ({ params, signal }) => {
      await sessions.get(params).choose('mode', params.modeId, signal);
    })
    .onRequest(session.setConfigOption, async ({ params, signal }) => ({
      configOptions: await sessions.get(params).choose(params.configId, params.value, signal),
    }))
    .onRequest(session.prompt, async ({ params, signal }) => ({
      stopReason: await sessions.get(params).prompt(params.prompt, signal),
    }))
    .onNotification(session.cancel, ({ params }) => sessions.get(params).cancel());
}
