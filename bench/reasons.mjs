// Why a peer is ahead, or a goal is missed: shown in RESULTS.md beside the case, as long as it is so.

/** @type {Record<string, string>} By the name of the case. */
export const reasons = {
  'edit one hit in 88 KB':
    'The difference is the flush to the disk: our change survives a power cut, theirs is in memory when they report it.',
  'write 10 MB over 10 MB':
    'We keep the old content for undo, compare it, flush and rename; they overwrite in place, and a crash leaves half a file.',
};
