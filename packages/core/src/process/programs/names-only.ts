import { nameSet } from './name-set.js';

/** Programs that tell names, sizes, times or checksums of files, and nothing else of their content. */
export const namesOnly: ReadonlySet<string> = nameSet(
  'ls stat test [ readlink realpath du tree find fd fdfind cd wc basename dirname file cksum md5sum sha1sum sha256sum ' +
    'sha512sum b2sum echo printf pwd type command true false : touch rm rmdir unlink shred mkdir chmod chown chgrp git',
);
