import { join } from 'node:path';
import type { ServerDefinition } from '../packages/core/src/mcp/client/server-definition.js';

export const badMcpServer = join(import.meta.dirname, 'children', 'bad-mcp-server.mjs');

/**
 * What becomes of a server with each fault: it has no tools, its tool answers `ok`, its tool fails, or its tool never
 * answers and the call runs out of time.
 */
export const badServers: Record<string, 'no tools' | 'ok' | 'fails' | 'times out'> = {
  'exit-at-start': 'no tools',
  'killed-at-start': 'no tools',
  'closes-stdout': 'no tools',
  'closes-stdin': 'no tools',
  'half-frame': 'no tools',
  'endless-line': 'no tools',
  'never-answers': 'no tools',
  'wrong-version': 'no tools',
  'no-capabilities': 'no tools',
  'wrong-types': 'no tools',
  'null-result': 'no tools',
  'handshake-error': 'no tools',
  drip: 'no tools',
  'no-list': 'no tools',
  'list-not-array': 'no tools',
  'nameless-tool': 'no tools',
  'noise-before': 'ok',
  'garbage-before': 'ok',
  'stderr-flood': 'ok',
  'notification-flood': 'ok',
  'ignores-term': 'ok',
  'leaves-children': 'ok',
  'redos-schema': 'ok',
  'deep-schema': 'ok',
  'huge-schema': 'ok',
  'wide-schema': 'ok',
  'remote-ref': 'ok',
  'endless-ref': 'ok',
  'nonsense-schema': 'ok',
  'listed-twice': 'ok',
  'prototype-names': 'ok',
  shadowing: 'ok',
  'strange-names': 'ok',
  'poisoned-text': 'ok',
  'endless-cursor': 'ok',
  'same-cursor': 'ok',
  'long-cursor': 'ok',
  'five-thousand-tools': 'ok',
  'list-changed-storm': 'ok',
  'many-parts': 'ok',
  'pixel-bomb': 'ok',
  'answers-twice': 'ok',
  'strange-ids': 'ok',
  'noise-between': 'ok',
  'progress-storm': 'ok',
  'asks-back': 'ok',
  links: 'ok',
  'crashes-in-call': 'fails',
  'closes-in-call': 'fails',
  'content-not-array': 'fails',
  'is-error-text': 'fails',
  'null-content': 'fails',
  'unknown-content': 'fails',
  'huge-answer': 'fails',
  // JSON.stringify has no limit of depth any more since Node 26.
  'nested-answer': Number.parseInt(process.versions.node) < 26 ? 'fails' : 'ok',
  hangs: 'times out',
  'text-id': 'times out',
  'case-variants': 'times out',
  'batch-answer': 'times out',
  'nan-answer': 'times out',
  'error-code-text': 'times out',
};

/** A server with that fault, ready to be configured. */
export function badServer(fault: string, changes: Partial<ServerDefinition> = {}): ServerDefinition {
  return {
    name: fault,
    alias: fault.replaceAll('-', ''),
    endpoint: { type: 'stdio', argv: [process.execPath, badMcpServer, fault], cwd: '/', env: {} },
    timeoutMs: 30_000,
    startTimeoutMs: 30_000,
    isTrusted: true,
    exclude: [],
    isProjects: false,
    written: null,
    ...changes,
  };
}
