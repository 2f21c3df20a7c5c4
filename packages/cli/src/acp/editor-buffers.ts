import { relative, resolve } from 'node:path';
import type { Buffers } from '@lathe/core';
import { isWithin } from '@lathe/core/host';
import type { SessionClient } from './session-client.js';

/** An editor that takes longer is not asked again. */
const answerMs = 10_000;

/** The text of open files, by `fs/read_text_file` and `fs/write_text_file`, if the editor has them. */
export function editorBuffers(client: SessionClient, cwd: { spelled: string; real: string }): Buffers | undefined {
  const { readTextFile = false, writeTextFile = false } = client.capabilities.fs ?? {};
  if (!readTextFile) return undefined;
  // The editor knows its files below the directory that it has named, which may be a symlink.
  const spell = (path: string) => (isWithin(cwd.real, path) ? resolve(cwd.spelled, relative(cwd.real, path)) : path);
  let isSilent = false;
  return {
    async read(path, signal) {
      if (isSilent) return undefined;
      const late = AbortSignal.timeout(answerMs);
      try {
        return await client.readTextFile(spell(path), AbortSignal.any([signal, late]));
      } catch {
        signal.throwIfAborted();
        isSilent = late.aborted;
        // It has no such file, or cannot read it.
        return undefined;
      }
    },
    ...(writeTextFile && { write: (path, text, signal) => client.writeTextFile(spell(path), text, signal) }),
  };
}
