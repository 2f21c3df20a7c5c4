import { resolve } from 'node:path';
import { type Exposure, sensitivityOf } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';
import { askedText } from '../loop/conversation.js';
import type { Message } from '../models/model.js';

/**
 * What an earlier part of a conversation brought into it: pages, results of servers, and the network by their tools; files
 * with keys by their names in the calls. The conversation itself does not say more; transcripts have records of the rest.
 */
export function restoreExposure(exposure: Exposure, history: readonly Message[], workspace: Workspace): void {
  for (const message of history) {
    exposure.notePrompt(askedText(message));
    for (const { functionCall } of message.parts) {
      const name = functionCall?.name ?? '';
      const words = JSON.stringify(functionCall?.args ?? {}).split(/["\s;|&<>(),:]+/);
      if (/^web_(fetch|search)$|__/.test(name)) exposure.note({ what: `a result of ${name} in an earlier part` });
      else if (words.some((word) => /^https?$/.test(word) || isKeyFile(word, workspace)))
        exposure.note({ what: `what ${name} returned in an earlier part` });
    }
  }
}

const isKeyFile = (word: string, { root }: Workspace): boolean =>
  word.length < 4096 && !word.includes('\0') && sensitivityOf(resolve(root, word)) !== undefined;
