import { dirname, isAbsolute, join, resolve } from 'node:path';
import { hasHiddenText, readBounded, visibleText } from '@lathe/core/host';
import { Workspace } from '@lathe/core/tools';
import type { ContextText } from '../loop/agent-options.js';

/** Reads context files and what they import, from inside the given folders only. */
export interface ContextReader {
  /** Empty when there is no such file. */
  read(path: string): Promise<ContextText>;
}

const maxFileBytes = 96 * 1024;
/** All files together; beyond it they would crowd out the work itself. */
const maxTotalCharacters = 200_000;
const maxDepth = 5;

export async function openReader(roots: readonly [string, ...string[]], userHome: string): Promise<ContextReader> {
  const [first, ...others] = roots;
  return new Reader(await Workspace.open(first, others), userHome);
}

type Notice = ContextText['notices'][number];

interface Import {
  /** Files that are being read right now, from the outermost inwards. */
  chain: readonly string[];
  notices: Notice[];
}

class Reader implements ContextReader {
  readonly #gate: Workspace;
  readonly #userHome: string;
  #total = 0;

  constructor(gate: Workspace, userHome: string) {
    this.#gate = gate;
    this.#userHome = userHome;
  }

  async read(path: string): Promise<ContextText> {
    const notices: Notice[] = [];
    const text = await this.#read(path, { chain: [], notices });
    return { text: text ?? '', notices };
  }

  async #read(path: string, { chain, notices }: Import): Promise<string | undefined> {
    const refuse = (reason: string) => {
      notices.push({ level: 'warning', message: `${visibleText(path)} is left out: ${reason}` });
      return undefined;
    };
    try {
      const { path: real, inside, secret } = await this.#gate.locate(path);
      const text = inside && secret === undefined ? readBounded(real, maxFileBytes) : undefined;
      if (!inside) return refuse('it lies outside the project.');
      if (secret !== undefined) return refuse(secret);
      if (text === undefined) return undefined;
      if (this.#total + text.length > maxTotalCharacters) return refuse('the context files are too long together.');
      this.#total += text.length;
      const plain = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
      if (hasHiddenText(plain)) notices.push(hiddenText(path));
      return await this.#withImports(visibleText(plain), real, { chain: [...chain, real], notices });
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
  }

  /** Replaces `@path`, outside code, by the file of that name when there is one. */
  async #withImports(text: string, file: string, context: Import): Promise<string> {
    const pieces: string[] = [];
    let end = 0;
    for (const match of text.matchAll(importOrCode)) {
      const [whole, , name] = match;
      if (name === undefined) continue;
      const path = this.#importPath(name, file);
      if (context.chain.length >= maxDepth || context.chain.includes(path)) continue;
      const content = await this.#read(path, context);
      if (content === undefined) continue;
      pieces.push(text.slice(end, match.index), `[${name}]\n${content.trim()}\n[end of ${name}]`);
      end = match.index + whole.length;
    }
    return [...pieces, text.slice(end)].join('');
  }

  #importPath(name: string, file: string): string {
    if (name.startsWith('~/')) return join(this.#userHome, name.slice(2));
    return isAbsolute(name) ? name : resolve(dirname(file), name);
  }
}

/** Fenced blocks and code spans are matched so that what is inside them is passed over. */
const importOrCode =
  /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1|`[^`\n]*`|(?<![^\s(])@([~./\w-][^\s,;!?()[\]{}"'`]*[^\s.,:;!?()[\]{}"'`])/gm;

function hiddenText(path: string): Notice {
  return {
    level: 'warning',
    message: `${visibleText(path)} contains hidden characters; the model sees them as escapes. Look at the file before you go on.`,
  };
}
