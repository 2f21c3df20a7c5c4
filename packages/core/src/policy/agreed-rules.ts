import { realpath } from 'node:fs/promises';
import type { LatheHome } from '../files/lathe-home.js';
import { isStringPair, PrivateStore } from './private-store.js';

/**
 * The allow rules of trusted folders that the user has seen. Trust in a folder does not cover a rule that a later
 * commit, or a command of an agent, adds to its settings.
 */
export class AgreedRules {
  readonly #store: PrivateStore<[folder: string, rule: string]>;

  constructor(home: LatheHome, name = 'agreed-rules.json') {
    this.#store = new PrivateStore(home, name, { key: 'rules', isEntry: isStringPair });
  }

  get path(): string {
    return this.#store.path;
  }

  async of(folder: string): Promise<ReadonlySet<string>> {
    const real = await realpath(folder);
    const entries = await this.#store.entries();
    return new Set(entries.flatMap(([path, rule]) => (path === real ? [rule] : [])));
  }

  async add(folder: string, rules: readonly string[]): Promise<void> {
    if (rules.length === 0) return;
    const real = await realpath(folder);
    await this.#store.update((known) => {
      const added = rules.filter((rule) => !known.some(([path, other]) => path === real && other === rule));
      return [...known, ...added.map((rule): [string, string] => [real, rule])];
    });
  }

  async remove(folder: string, rule: string): Promise<void> {
    const real = await realpath(folder);
    await this.#store.update((known) => known.filter(([path, other]) => path !== real || other !== rule));
  }
}

/**
 * The rules that the user allowed with "always in this project" in folders that are not trusted. They are the user's own,
 * so no file of the folder can add one.
 */
export class FolderRules extends AgreedRules {
  constructor(home: LatheHome) {
    super(home, 'folder-rules.json');
  }
}
