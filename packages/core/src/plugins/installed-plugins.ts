import { mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { thrownText } from '../contract/errors.js';
import type { LatheHome } from '../files/lathe-home.js';
import { PrivateStore } from '../policy/private-store.js';
import type { PluginSettings } from '../settings/load-settings.js';
import type { PluginSource } from './fetch-plugin.js';
import type { Plugin, PluginPlace } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';

/** What a person agreed to: these files, by their hash. */
export interface PluginRecord {
  name: string;
  hash: string;
  source: PluginSource;
}

/** A plugin whose files are the ones that the person agreed to. */
export interface InstalledPlugin extends Plugin, PluginPlace, Pick<PluginRecord, 'hash' | 'source'> {}

/** The plugins below Lathe's home: their files in `plugins/NAME`, and what was agreed to in `plugins.json`. */
export class InstalledPlugins {
  readonly #home: LatheHome;
  readonly #store: PrivateStore<PluginRecord>;

  constructor(home: LatheHome) {
    this.#home = home;
    this.#store = new PrivateStore(home, 'plugins.json', { key: 'plugins', isEntry });
  }

  records(): Promise<PluginRecord[]> {
    return this.#store.entries();
  }

  placeOf(name: string): PluginPlace {
    return { root: this.#home.file('plugins', name), data: this.#home.file('plugin-data', name) };
  }

  /** The plugins that are as they were agreed to. `problems` names the others, for people. */
  async load(): Promise<{ plugins: InstalledPlugin[]; problems: string[] }> {
    const plugins: InstalledPlugin[] = [];
    const problem = await this.#store.problem();
    const problems = problem === undefined ? [] : [problem];
    const records = await this.records();
    if (records.length === 0) return { plugins, problems };
    const { readTree, filesHash } = await import('./plugin-files.js');
    const { readPlugin } = await import('./read-plugin.js');
    for (const { name, hash, source } of records) {
      const place = this.placeOf(name);
      try {
        const files = readTree(place.root);
        if (filesHash(files) !== hash) throw new Error(`its files have changed since you agreed to them`);
        const plugin = readPlugin(files, place);
        // Its servers expect the folder.
        if (Object.keys(plugin.servers).length > 0) mkdirSync(place.data, { recursive: true, mode: 0o700 });
        plugins.push({ ...plugin, ...place, name, hash, source });
      } catch (error) {
        const hint = `Run lathe plugin update ${name} to see and agree.`;
        problems.push(`The plugin ${name} is not used: ${thrownText(error)}. ${hint}`);
      }
    }
    return { plugins, problems };
  }

  /** Replaces an earlier version as a whole. The person must have agreed to these files. */
  async install(name: string, files: PluginFiles, source: PluginSource): Promise<void> {
    const { filesHash, writeTree } = await import('./plugin-files.js');
    await this.#home.directory('plugins');
    const fresh = this.#home.file('plugins', `.new-${name}`);
    const { root } = this.placeOf(name);
    try {
      // A process that was killed here left it.
      await rm(fresh, { recursive: true, force: true });
      await writeTree(fresh, files);
      // If this stops halfway, the hash is wrong and the plugin is not used.
      await rm(root, { recursive: true, force: true });
      await rename(fresh, root);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
    const record = { name, hash: filesHash(files), source };
    await this.#store.update((records) => [...records.filter((other) => other.name !== name), record]);
  }

  /** Removes a plugin and what its servers kept. */
  async remove(name: string): Promise<void> {
    const { root, data } = this.placeOf(name);
    // The record goes last: after a crash, the rest can be removed by name.
    for (const folder of [root, data]) await rm(folder, { recursive: true, force: true });
    await this.#store.update((records) => records.filter((record) => record.name !== name));
  }
}

/** What a plugin adds to the settings. The portable format knows no variables of the environment. */
export function pluginSettings({ name, hash, format, servers, hooks }: InstalledPlugin): PluginSettings {
  return { name, pin: hash, hasVariables: format !== 'agent-plugins', settings: { mcpServers: servers, hooks } };
}

function isEntry(value: unknown): value is PluginRecord {
  const { name, hash, source }: Partial<Record<keyof PluginRecord, unknown>> = Object(value);
  const isName = typeof name === 'string' && /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);
  return isName && typeof hash === 'string' && typeof source === 'object' && source !== null && 'type' in source;
}
