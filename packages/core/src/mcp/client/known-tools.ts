import type { Tool } from '@modelcontextprotocol/client';
import type { LatheHome } from '../../files/lathe-home.js';
import { definitionHash } from '../../policy/consent.js';
import { PrivateStore } from '../../policy/private-store.js';
import type { ServerDefinition } from './server-definition.js';

type Entry = [server: string, tools: Tool[]];

const maxServers = 30;
const maxChars = 64 * 1024;

/**
 * The tools that each server listed last. With them a session starts without waiting for its servers, which saves about
 * half of the time to the first request with ten servers (`npm run bench -- --only 'ten MCP servers'`).
 */
export class KnownTools {
  readonly #store: PrivateStore<Entry>;
  #loaded: Promise<Map<string, Tool[]>> | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'server-tools.json', { key: 'servers', isEntry });
  }

  async get(server: string): Promise<Tool[] | undefined> {
    return (await this.#load()).get(server);
  }

  /** Remembers the tools of a server, in the background. A list that is too long is not kept. */
  set(server: string, tools: Tool[]): void {
    // If it cannot be saved, the next session waits for the server.
    this.#saving = this.#saving.then(() => this.#save([server, tools])).catch(() => undefined);
  }

  /** Resolves when everything is saved. */
  saved(): Promise<void> {
    return this.#saving;
  }

  #load(): Promise<Map<string, Tool[]>> {
    this.#loaded ??= this.#store.entries().then((entries) => new Map(entries));
    return this.#loaded;
  }

  async #save([server, tools]: Entry): Promise<void> {
    const loaded = await this.#load();
    const text = JSON.stringify(tools);
    if (text.length > maxChars || text === JSON.stringify(loaded.get(server))) return;
    loaded.set(server, tools);
    await this.#store.update((entries) =>
      [...entries.filter(([other]) => other !== server), [server, tools] satisfies Entry].slice(-maxServers),
    );
  }
}

/** Names a server together with everything that decides what it is. */
export function serverKey(owner: string, { name, written }: Pick<ServerDefinition, 'name' | 'written'>): string {
  return definitionHash([owner, name, written]);
}

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== 'string') return false;
  const tools: unknown = value[1];
  return Array.isArray(tools) && tools.every((tool: unknown) => isTool(tool));
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('inputSchema' in value)) return false;
  return typeof value.name === 'string' && typeof value.inputSchema === 'object' && value.inputSchema !== null;
}
