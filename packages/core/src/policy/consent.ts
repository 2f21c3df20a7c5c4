import { createHash } from 'node:crypto';
import type { LatheHome } from '../files/lathe-home.js';
import { isStringPair, PrivateStore } from './private-store.js';

export type ConsentKind = 'discovery-command' | 'tool-files' | 'mcp-server' | 'hook' | 'skill';

/**
 * What the user agreed to run, bound to a hash of its whole definition: if one byte changes, Lathe asks again. `id`
 * names the thing within its kind, such as the workspace's path and the server's name.
 */
export class Consent {
  readonly #store: PrivateStore<[name: string, hash: string]>;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'approvals.json', { key: 'approvals', isEntry: isStringPair });
  }

  async isApproved(kind: ConsentKind, id: string, hash: string): Promise<boolean> {
    return new Map(await this.#store.entries()).get(`${kind} ${id}`) === hash;
  }

  /** Replaces an earlier approval of the same thing. */
  async approve(kind: ConsentKind, id: string, hash: string): Promise<void> {
    await this.#store.update((approvals) => [...new Map(approvals).set(`${kind} ${id}`, hash)]);
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
