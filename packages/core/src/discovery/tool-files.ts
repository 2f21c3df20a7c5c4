import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { thrownText } from '../contract/errors.js';
import { definitionHash } from '../policy/consent.js';
import type { ConsentGate, ConsentRequest } from '../scheduler/ask-consent.js';
import { readBounded } from '../settings/read-bounded.js';
import { NotTrusted, type Rejection, type ToolSource } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';

export interface ToolFilesOptions {
  /** Shown to people: `.lathe/tools`. */
  label: string;
  /** The folder of the files. */
  folder: string;
  /** In a worktree: the folder that it is a copy of, to whose files the person agreed. */
  copyOf?: string;
  /** Set to false, files are named and not loaded. */
  isTrusted: boolean;
  /**
   * Packages are loaded from below this folder only, because others can be changed without asking; `folder` when left
   * out.
   */
  packagesIn?: string;
  /** A plugin brings them: its name, and the hash of all its files, which they may load. */
  plugin?: { name: string; pin: string };
  /** Asks before files that are new or changed are loaded; not set for the user's own. */
  gate?: ConsentGate;
}

const maxFiles = 200;
const maxFileBytes = 1024 * 1024;

/** Tools as files of a project or a person: each exports what `defineTool` returns, or instances of a class. */
export class ToolFiles implements ToolSource {
  readonly label: string;
  readonly #options: ToolFilesOptions;
  #loaded: { hash: string; tools: AnyTool[]; rejections: Rejection[] } | undefined;

  constructor(options: ToolFilesOptions) {
    this.label = options.label;
    this.#options = options;
  }

  rejections(): Rejection[] {
    return this.#loaded?.rejections ?? [];
  }

  /** Loads the files, or returns the same tools as before while no file has changed. */
  async discover(signal: AbortSignal): Promise<AnyTool[]> {
    const { folder, isTrusted, gate, label, packagesIn = folder } = this.#options;
    if (toolFileNames(folder).length === 0) {
      this.#loaded = undefined;
      return [];
    }
    if (!isTrusted) throw new NotTrusted('Tool files of this folder were not loaded');
    const { texts, unreadable } = this.#read();
    const hash = definitionHash({ texts, unreadable });
    if (this.#loaded?.hash === hash) return this.#loaded.tools;
    if (Object.keys(texts).length > 0) await gate?.pass(this.#consentFor(texts), signal);
    const { loadToolFiles } = await import('./load-tool-files.js');
    const { tools, problems } = await loadToolFiles(folder, texts, packagesIn);
    problems.unshift(...unreadable);
    const tooMany = namesIn(folder).length - maxFiles;
    if (tooMany > 0) problems.push({ name: `${tooMany} files`, reason: `more than ${maxFiles} files in ${folder}` });
    const rejections = problems.map(({ name, reason }) => ({ source: label, name, reason }));
    this.#loaded = { hash, tools, rejections };
    return tools;
  }

  /** What the user approves: the content of all files, because any of them may load any other. */
  consentRequests(): ConsentRequest[] {
    const { texts } = this.#read();
    return Object.keys(texts).length === 0 ? [] : [this.#consentFor(texts)];
  }

  #consentFor(texts: Record<string, string>): ConsentRequest {
    const { folder, copyOf = folder, plugin } = this.#options;
    const owner = plugin ? `the plugin ${plugin.name}` : 'this project';
    return {
      kind: 'tool-files',
      id: copyOf,
      definition: plugin ? { texts, pin: plugin.pin } : texts,
      confirmation: {
        type: 'info',
        title: `Let ${owner} add tools by loading its files? They run inside Lathe, without a sandbox.`,
        prompt: Object.entries(texts)
          .map(([name, text]) => `${join(folder, name)}\n\n${text.trimEnd()}`)
          .join('\n\n'),
      },
    };
  }

  /** The same texts are agreed to and run, even if a file changes in between. */
  #read(): { texts: Record<string, string>; unreadable: { name: string; reason: string }[] } {
    const { folder } = this.#options;
    const texts: Record<string, string> = {};
    const unreadable: { name: string; reason: string }[] = [];
    for (const name of toolFileNames(folder)) {
      try {
        const text = readBounded(join(folder, name), maxFileBytes);
        if (text === undefined) throw new Error('It is a link to a file that does not exist.');
        texts[name] = text;
      } catch (error) {
        unreadable.push({ name, reason: thrownText(error) });
      }
    }
    return { texts, unreadable };
  }
}

/** The names of the tool files of a folder, sorted; tests beside them are none. */
export function toolFileNames(folder: string): string[] {
  return namesIn(folder).slice(0, maxFiles);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /(?<!\.test|\.d)\.(?:js|mjs|ts)$/.test(name))
      .sort();
  } catch {
    // Most folders have none.
    return [];
  }
}
