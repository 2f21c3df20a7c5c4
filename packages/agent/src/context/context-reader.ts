import { dirname, join, resolve } from 'node:path';
import { hasHiddenText, readBounded, visibleText } from '@lathe/core/host';
import { Workspace } from '@lathe/core/tools';
import { plainText } from '../definition-files.js';
import type { ContextText } from '../loop/agent-options.js';

const maxFileBytes = 96 * 1024;
/** All files together: more would leave too little of the window for the work. */
const maxTotalCharacters = 200_000;
const maxDepth = 5;

type Notice = ContextText['notices'][number];

interface Import {
  /** Files that import each other, the outermost first. */
  chain: readonly string[];
  notices: Notice[];
}

/** Reads context files and what they import, from inside the given folders only. */
export class ContextReader {
  readonly #gate: Workspace;
  readonly #userHome: string;
  #total = 0;

  private constructor(gate: Workspace, userHome: string) {
    this.#gate = gate;
    this.#userHome = userHome;
  }

  static async open([first, ...others]: readonly [string, ...string[]], userHome: string): Promise<ContextReader> {
    return new ContextReader(await Workspace.open(first, others), userHome);
  }

  /** The text is empty when there is no such file. */
  async read(path: string): Promise<ContextText> {
    const notices: Notice[] = [];
    const text = await this.#read(path, { chain: [], notices });
    return { text: text ?? '', notices };
  }

  async #read(path: string, { chain, notices }: Import): Promise<string | undefined> {
    const skip = (reason: string) => {
      notices.push({ level: 'warning', message: `${visibleText(path)} is left out: ${reason}` });
      return undefined;
    };
    try {
      const { path: real, inside, secret, sensitive } = await this.#gate.locate(path);
      if (!inside) return skip('it lies outside the project.');
      const why = secret ?? sensitive;
      if (why !== undefined) return skip(why);
      const text = readBounded(real, maxFileBytes);
      if (text === undefined) return undefined;
      if (this.#total + text.length > maxTotalCharacters) return skip('the context files are too long together.');
      this.#total += text.length;
      if (hasHiddenText(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'))) {
        const advice = 'the model sees them as escapes. Look at the file before you go on.';
        notices.push({ level: 'warning', message: `${visibleText(path)} contains hidden characters; ${advice}` });
      }
      return await this.#withImports(plainText(text), real, { chain: [...chain, real], notices });
    } catch (error) {
      return skip(error instanceof Error ? error.message : String(error));
    }
  }

  /** Replaces `@path` outside code by the file of that name, if there is one. */
  async #withImports(text: string, file: string, context: Import): Promise<string> {
    const pieces: string[] = [];
    let end = 0;
    for (const match of text.matchAll(importOrCode)) {
      const [whole, , name] = match;
      if (name === undefined) continue;
      const path = name.startsWith('~/') ? join(this.#userHome, name.slice(2)) : resolve(dirname(file), name);
      if (context.chain.length >= maxDepth || context.chain.includes(path)) continue;
      const content = await this.#read(path, context);
      if (content === undefined) continue;
      pieces.push(text.slice(end, match.index), `[${name}]\n${content.trim()}\n[end of ${name}]`);
      end = match.index + whole.length;
    }
    return [...pieces, text.slice(end)].join('');
  }
}

/** Also matches fenced blocks and code spans, so that imports inside them are skipped. */
const importOrCode =
  /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1|`[^`\n]*`|(?<![^\s(])@([~./\w-][^\s,;!?()[\]{}"'`]*[^\s.,:;!?()[\]{}"'`])/gm;
