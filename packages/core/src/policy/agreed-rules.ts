import { realpath } from 'node:fs/promises';
import type { LatheHome } from '../files/lathe-home.js';
import { PrivateStore } from './private-store.js';

/**
 * The allow rules of trusted folders that their person has seen. Trust is given to a folder; a rule that a later
 * commit, or a command of an agent, writes into its settings was not part of it.
 */
export class AgreedRules {
  readonly #store: PrivateStore;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'agreed-rules.json');
  }

  async of(folder: string): Promise<ReadonlySet<string>> {
    const real = await realpath(folder);
    const content = await this.#store.read();
    const entries = content.status === 'ok' ? entriesOf(content.data) : [];
    return new Set(entries.flatMap(([path, rule]) => (path === real ? [rule] : [])));
  }

  async add(folder: string, rules: readonly string[]): Promise<void> {
    if (rules.length === 0) return;
    const real = await realpath(folder);
    await this.#store.update((data) => {
      const known = entriesOf(data);
      const added = rules.filter((rule) => !known.some(([path, other]) => path === real && other === rule));
      return { version: 1, rules: [...known, ...added.map((rule): Entry => [real, rule])] };
    });
  }
}

type Entry = [folder: string, rule: string];

function entriesOf(data: unknown): Entry[] {
  if (typeof data !== 'object' || data === null || !('rules' in data) || !Array.isArray(data.rules)) return [];
  return data.rules.filter(isEntry);
}

function isEntry(value: unknown): value is Entry {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
