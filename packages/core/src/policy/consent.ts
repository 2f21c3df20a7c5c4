import { createHash } from 'node:crypto';
import type { LatheHome } from '../files/lathe-home.js';
import { PrivateStore } from './private-store.js';

export type ConsentKind = 'discovery-command' | 'mcp-server' | 'hook';

/**
 * What people agreed to run, bound to a hash of its whole definition: when one byte of it changes, they are asked
 * again. `id` names the thing within its kind, such as the workspace's path and the server's name.
 */
export class Consent {
  readonly #store: PrivateStore;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'approvals.json');
  }

  async isApproved(kind: ConsentKind, id: string, hash: string): Promise<boolean> {
    const content = await this.#store.read();
    return content.status === 'ok' && approvalsOf(content.data).get(nameOf(kind, id)) === hash;
  }

  /** Replaces an earlier approval of the same thing. */
  async approve(kind: ConsentKind, id: string, hash: string): Promise<void> {
    await this.#store.update((data) => toData(approvalsOf(data).set(nameOf(kind, id), hash)));
  }

  async revoke(kind: ConsentKind, id: string): Promise<void> {
    await this.#store.update((data) => {
      const approvals = approvalsOf(data);
      approvals.delete(nameOf(kind, id));
      return toData(approvals);
    });
  }
}

/** A hash of a definition that does not depend on the order of its keys. */
export function definitionHash(definition: unknown): string {
  return createHash('sha256').update(canonical(definition)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join()}}`;
}

const nameOf = (kind: ConsentKind, id: string): string => `${kind} ${id}`;

function toData(approvals: ReadonlyMap<string, string>): unknown {
  return { version: 1, approvals: [...approvals] };
}

function approvalsOf(data: unknown): Map<string, string> {
  if (typeof data !== 'object' || data === null || !('approvals' in data) || !Array.isArray(data.approvals))
    return new Map();
  return new Map(data.approvals.filter(isApproval));
}

function isApproval(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
