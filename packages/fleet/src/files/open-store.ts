import type { Board } from '../queue/board.js';
import type { Store } from './store.js';

/** Opens `s3://bucket/prefix`, a directory, or without a place the server of the queue itself. */
export async function openStore(
  place: string | undefined,
  board: Board,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Store> {
  if (place === undefined) return new (await import('./board-store.js')).BoardStore(board);
  if (place.startsWith('s3://')) return (await import('./s3-store.js')).openS3Store(place, env);
  return new (await import('./directory-store.js')).DirectoryStore(place);
}
