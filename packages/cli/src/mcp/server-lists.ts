import { type AgentLathe } from '@lathe/agent';
import type { McpSource } from '@lathe/core/mcp';

/**
 * What all servers have of something, as far as they have told: a server is asked when it is there, and when it says
 * that it has others now.
 */
export class ServerLists<T> {
  readonly #lathe: AgentLathe;
  readonly #fetch: (source: McpSource) => Promise<T[]>;
  readonly #found = new Map<McpSource, T[]>();
  readonly #listeners = new Set<() => void>();
  /** Who is being asked, and whether the answer is out of date already. */
  readonly #asked = new Map<McpSource, boolean>();

  constructor(lathe: AgentLathe, list: 'prompts' | 'resources', fetch: (source: McpSource) => Promise<T[]>) {
    this.#lathe = lathe;
    this.#fetch = fetch;
    lathe.tools.onChange(() => this.#askNew());
    for (const source of lathe.sources.servers)
      source.onListChanged((changed) => {
        if (changed === list) void this.#ask(source);
      });
  }

  /** Calls back when a server has told what it has. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  get items(): T[] {
    return [...this.#found.values()].flat();
  }

  #askNew(): void {
    for (const source of this.#lathe.sources.servers)
      if (source.client.state.status === 'ready' && !this.#found.has(source)) void this.#ask(source);
  }

  /** One question at a time: a server that announces changes meanwhile is asked once more when it has answered. */
  async #ask(source: McpSource): Promise<void> {
    const isBusy = this.#asked.has(source);
    this.#asked.set(source, isBusy);
    if (isBusy) return;
    const items = await this.#fetch(source).catch(() => this.#found.get(source) ?? []);
    this.#found.set(source, items);
    for (const listener of this.#listeners) listener();
    const isStale = this.#asked.get(source);
    this.#asked.delete(source);
    if (isStale) await this.#ask(source);
  }
}
