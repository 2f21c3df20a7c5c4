import type { Part } from '@lathe/core';
import type { Model } from '../models/model.js';
import { canSee, inputKind } from '../models/wire/wire-format.js';

/** The names of media in `model.inputs`. */
const inputNames = { images: 'image', audio: 'audio', video: 'video', pdf: 'pdf' } as const;

/** Says once for each model and kind of media that the model does not get it, and how to change that. */
export class UnseenMedia {
  readonly #told = new Set<string>();

  /** A sentence for people when these parts have media that the model does not accept; `undefined` after the first time. */
  notice(parts: readonly Part[], { id, supports }: Model): string | undefined {
    const types = parts.flatMap((part) => [part, ...(part.functionResponse?.parts ?? [])]).flatMap(typeOf);
    const kinds = types.filter((type) => !canSee(type, supports)).flatMap((type) => inputKind(type) ?? []);
    const fresh = [...new Set(kinds)].filter((kind) => !this.#told.has(`${id} ${kind}`));
    for (const kind of fresh) this.#told.add(`${id} ${kind}`);
    if (fresh.length === 0) return undefined;
    const names = fresh.map((kind) => inputNames[kind]);
    return `${id} is not known to accept ${names.join(' and ')} input, so it was left out. If it does, add it to the setting model.inputs: ${JSON.stringify(names)}.`;
  }
}

function typeOf({ inlineData, fileData }: Part): string[] {
  const type = inlineData?.mimeType ?? fileData?.mimeType;
  return type === undefined ? [] : [type];
}
