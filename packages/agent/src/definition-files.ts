import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type InstalledPlugin, readBounded, visibleText } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';

/** Where the files are that define commands and subagents. */
export interface DefinitionPlaces {
  workspace: Workspace;
  /** Files of the workspace count only when it is trusted. */
  isTrusted: boolean;
  /** The person's own folders; the first one wins. */
  personalFolders: readonly string[];
  /** Folders of plugins, each with the name that its files go by. */
  pluginFolders?: readonly { folder: string; name: string }[];
}

export interface DefinitionFile {
  path: string;
  /** Relative to its folder. */
  name: string;
  owner: 'person' | 'project' | 'plugin';
  text: string;
}

const maxFileBytes = 64 * 1024;
const maxEntries = 400;

/**
 * Reads the person's own files, then those of the workspace in `.lathe/<kind>` and `.qwen/<kind>`, then those of plugins.
 * Returns the problems with files that cannot be read or that `add` rejects.
 */
export async function readDefinitions(
  { workspace, isTrusted, personalFolders, pluginFolders: plugins = [] }: DefinitionPlaces,
  { kind, extension, maxDepth }: { kind: string; extension: RegExp; maxDepth: number },
  add: (file: DefinitionFile) => void | Promise<void>,
): Promise<string[]> {
  const problems: string[] = [];
  const projectFolders = isTrusted ? ['.lathe', '.qwen'].map((folder) => join(workspace.root, folder, kind)) : [];
  const places = [
    ...[...new Set([...personalFolders, ...projectFolders])].map((folder) => {
      return {
        folder,
        owner: personalFolders.includes(folder) ? ('person' as const) : ('project' as const),
        prefix: '',
      };
    }),
    ...plugins.map(({ folder, name }) => ({ folder, owner: 'plugin' as const, prefix: `${name}/` })),
  ];
  for (const { folder, owner, prefix } of places) {
    for (const name of filesIn(folder, extension, maxDepth)) {
      const path = join(folder, name);
      try {
        await add({
          path,
          name: `${prefix}${name}`,
          owner,
          text: await read(path, owner === 'project' ? workspace : undefined),
        });
      } catch (error) {
        problems.push(visibleText(`${path}: ${error instanceof Error ? error.message : String(error)}`));
      }
    }
  }
  return problems;
}

/** The folders with files of a kind that plugins bring. */
export function pluginFolders(plugins: readonly InstalledPlugin[], kind: 'commands' | 'agents') {
  return plugins.flatMap(({ name, root, [kind]: folder }) =>
    folder === undefined ? [] : [{ name, folder: join(root, folder) }],
  );
}

/** Names relative to the folder, sorted. Symlinks to folders are not followed: they could form a cycle. */
function filesIn(folder: string, extension: RegExp, maxDepth: number): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    return entries.slice(0, maxEntries).flatMap((entry) => {
      if (!entry.isDirectory()) return extension.test(entry.name) ? [entry.name] : [];
      const inner = maxDepth > 1 ? filesIn(join(folder, entry.name), extension, maxDepth - 1) : [];
      return inner.map((name) => `${entry.name}/${name}`);
    });
  } catch {
    // Most people have no such folder.
    return [];
  }
}

async function read(path: string, gate?: Workspace): Promise<string> {
  const location = await gate?.locate(path);
  if (location && !(location.inside && location.secret === undefined)) throw new Error('it leads out of the project');
  return plainText(readBounded(location?.path ?? path, maxFileBytes) ?? '');
}

/** The text without a byte order mark, with LF line endings and visible characters only. */
export function plainText(text: string): string {
  return visibleText(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
}
