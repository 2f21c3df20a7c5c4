import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SessionStore } from '@lathe/agent';
import { LatheHome } from '@lathe/core/tools';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { latheHome } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe view [id]` writes a session as one HTML page, without a model or the network. */
export const command: Command = {
  async run({ operands, flags }, io) {
    const [id, ...extra] = operands;
    if (extra.length > 0) throw new UsageError('view takes the id of one session, or none for the latest');
    const home = new LatheHome(latheHome(io));
    const store = await SessionStore.open(home, io.cwd);
    const session = await (id === undefined ? store.latest({ isWhole: true }) : store.load(id, { isWhole: true }));
    if (!session) {
      io.err('There is no session in this directory yet.');
      return exitCodes.failure;
    }
    const [{ pageDataOf }, { pageOf }] = await Promise.all([import('../view/page-data.js'), import('../view/page.js')]);
    if (flags.out === undefined) await home.directory('views');
    const path = flags.out === undefined ? home.file('views', `${session.id}.html`) : resolve(io.cwd, flags.out);
    await writePage(path, pageOf(pageDataOf(session)));
    io.out(pathToFileURL(path).href);
    return exitCodes.success;
  },
};

/** Replaces an earlier page but no other file. Only this user can read the page, like the session itself. */
async function writePage(path: string, page: string): Promise<void> {
  const { O_RDWR, O_CREAT } = constants;
  const file = await open(path, O_RDWR | O_CREAT, 0o600).catch((error: unknown) => {
    throw new UsageError(errorMessage(error));
  });
  try {
    const info = await file.stat();
    if (info.size > 0 && !(await isPage(file)))
      throw new UsageError(`${path} exists and is not a page written by lathe view`);
    if (info.isFile()) {
      await file.chmod(0o600);
      await file.truncate();
    }
    await file.writeFile(page);
  } finally {
    await file.close();
  }
}

async function isPage(file: FileHandle): Promise<boolean> {
  const head = Buffer.alloc(4096);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return head.toString('utf8', 0, bytesRead).includes('<title>Lathe session</title>');
}
