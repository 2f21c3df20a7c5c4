import { type AgentLathe } from '@lathe/agent';
import type { McpSource } from '@lathe/core/mcp';

/** The prompts or resources of all connected servers. Fetches a server's list when it connects and when it changes. */
export class ServerLists<T> {
  readonly #servers: readonly McpSource[];
  readonly #fetch: (source: McpSource) => Promise<T[]>;
  readonly #lists = new Map<McpSource, T[]>();
  readonly #listeners = new Set<() => void>();
  /** Servers with a fetch in progress, and whether their list has changed since it began. */
  readonly #fetching = new Map<McpSource, boolean>();

  constructor(
    { tools, sources: { servers } }: Pick<AgentLathe, 'tools' | 'sources'>,
    list: 'prompts' | 'resources',
    fetch: (source: McpSource) => Promise<T[]>,
  ) {
    this.#servers = servers;
    this.#fetch = fetch;
    tools.onChange(() => this.#refreshNew());
    for (const source of servers)
      source.onListChanged((changed) => {
        if (changed === list) void this.#refresh(source);
      });
  }

  /** Calls the listener when a list was fetched. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  get items(): T[] {
    return [...this.#lists.values()].flat();
  }

  #refreshNew(): void {
    for (const source of this.#servers)
      if (source.client.state.status === 'ready' && !this.#lists.has(source)) void this.#refresh(source);
  }

  /** One fetch at a time per server. A change during a fetch causes one more fetch. */
  async #refresh(source: McpSource): Promise<void> {
    const isBusy = this.#fetching.has(source);
    this.#fetching.set(source, isBusy);
    if (isBusy) return;
    const items = await this.#fetch(source).catch(() => this.#lists.get(source) ?? []);
    this.#lists.set(source, items);
    for (const listener of this.#listeners) listener();
    const isStale = this.#fetching.get(source);
    this.#fetching.delete(source);
    if (isStale) await this.#refresh(source);
  }
}
