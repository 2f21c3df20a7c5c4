import { createHash } from 'node:crypto';

/** A file in an index of git. */
export interface IndexEntry {
  /** Relative to the work tree, as bytes. */
  name: Buffer;
  /** The id of its content, in hexadecimal digits. */
  id: string;
  /** The size of the file when git compared it with its content. */
  size: number;
  /** Its time stamps, mode, size and id, as stored. */
  fixed: Buffer;
  /** A file that git treats in no special way. */
  isPlain: boolean;
}

const headerBytes = 12;
/** Ten numbers and an id. */
const fixedBytes = 60;
const checksumBytes = 20;
/** A file, an executable file, a symlink. */
const plainModes = new Set([0o100644, 0o100755, 0o120000]);
/** Assumed to be unchanged, or in a merge conflict. */
const unusualFlags = 0x8000 | 0x3000;
const extendedFlag = 0x4000;
/** The length of a name is stored up to this. */
const nameLengthMask = 0xfff;
/** Not in the work tree, or without content yet. */
const unusualExtendedFlags = 0x4000 | 0x2000;

/**
 * The files of an index of format 2, 3 or 4, in its order. `undefined` when the index is damaged, or when a part of it is
 * elsewhere. The bytes may come from a hostile repository.
 */
export function readIndex(bytes: Buffer): IndexEntry[] | undefined {
  try {
    const version = bytes.readUInt32BE(4);
    if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return undefined;
    const entries: IndexEntry[] = [];
    let last: ReadEntry = { name: Buffer.alloc(0), isWhole: true, isPlain: false, end: headerBytes };
    for (let left = bytes.readUInt32BE(8); left > 0; left--) {
      const { name: before, end: at } = last;
      last = readEntry(bytes, version, at, before);
      const { name, isPlain } = last;
      // Equal names are the stages of a conflict.
      if (Buffer.compare(before, name) > 0) return undefined;
      const fixed = bytes.subarray(at, at + fixedBytes);
      entries.push({ name, isPlain, fixed, id: fixed.toString('hex', 40), size: fixed.readUInt32BE(36) });
    }
    return hasOnlyHints(bytes, last.end) ? entries : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type ReadEntry = ReadName & Pick<IndexEntry, 'isPlain'>;

function readEntry(bytes: Buffer, version: number, at: number, before: Buffer): ReadEntry {
  const flags = bytes.readUInt16BE(at + fixedBytes);
  const isExtended = (flags & extendedFlag) !== 0;
  const extended = isExtended ? bytes.readUInt16BE(at + fixedBytes + 2) : 0;
  const nameAt = at + fixedBytes + (isExtended ? 4 : 2);
  const read = version === 4 ? compressedName(bytes, nameAt, before) : plainName(bytes, at, nameAt);
  // Ids of another length would shift every field.
  if ((flags & nameLengthMask) !== Math.min(read.name.length, nameLengthMask)) throw new RangeError('a name is cut');
  const hasFlags = (flags & unusualFlags) !== 0 || (extended & unusualExtendedFlags) !== 0;
  const isPlain = !hasFlags && plainModes.has(bytes.readUInt32BE(at + 24)) && isOrdinaryName(read.name);
  return { ...read, isPlain };
}

/**
 * Whether an index names a file outside the work tree or in its repository, or cannot be read. A command may have written
 * it, so anything that git could read in another way counts too.
 */
export function hasForeignNames(bytes: Buffer, idBytes: 20 | 32): boolean {
  try {
    return !namesAreOrdinary(bytes, idBytes);
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

function namesAreOrdinary(bytes: Buffer, idBytes: number): boolean {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return false;
  const starts: EntryStart[] = [];
  let last: ReadName = { name: Buffer.alloc(0), isWhole: true, end: headerBytes };
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const { name: before, end: at } = last;
    const flagsAt = at + fixedBytes - checksumBytes + idBytes;
    const flags = bytes.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & extendedFlag) === 0 ? 2 : 4);
    last = version === 4 ? compressedName(bytes, nameAt, before) : plainName(bytes, at, nameAt);
    const { name } = last;
    // Ids of another length would shift every field.
    if ((flags & nameLengthMask) !== Math.min(name.length, nameLengthMask)) return false;
    // A part of a split index has entries without a name. One with a slash at its end stands for a whole directory.
    const own = name.at(-1) === slash ? name.subarray(0, -1) : name;
    if (name.length > 0 && !isOrdinaryName(own)) return false;
    starts.push({ at, isWhole: last.isWhole });
  }
  // Where git looks for it, whatever is around it.
  const marker = bytes.length - idBytes - 12 - idBytes;
  const hasMarker = marker >= last.end && bytes.toString('latin1', marker, marker + 4) === 'EOIE';
  if (hasMarker && bytes.readUInt32BE(marker + 8) !== last.end) return false;
  return extensionsOf(bytes, last.end, idBytes).every(
    ({ name, content }) => name !== 'IEOT' || startsAgree(content, starts),
  );
}

interface EntryStart extends Pick<ReadName, 'isWhole'> {
  at: number;
}

const slash = 0x2f;

/** Git may read the entries in blocks, from the places that this extension names. */
function startsAgree(blocks: Buffer, starts: readonly EntryStart[]): boolean {
  let index = 0;
  for (let at = 4; at < blocks.length; at += 8) {
    const start = starts[index];
    if (start?.at !== blocks.readUInt32BE(at) || !start.isWhole) return false;
    index += blocks.readUInt32BE(at + 4);
  }
  return index === starts.length;
}

/** Throws unless they fill the bytes up to the checksum. */
function extensionsOf(bytes: Buffer, from: number, checksum: number): { name: string; content: Buffer }[] {
  const found: { name: string; content: Buffer }[] = [];
  const end = bytes.length - checksum;
  let at = from;
  while (at < end) {
    const next = at + 8 + bytes.readUInt32BE(at + 4);
    found.push({ name: bytes.toString('latin1', at, at + 4), content: bytes.subarray(at + 8, next) });
    at = next;
  }
  if (at !== end) throw new RangeError('an extension is cut');
  return found;
}

/** An index of format 2 with these entries and nothing else. */
export function writeEntries(entries: readonly IndexEntry[]): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('DIRC', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const pieces: Buffer[] = [header];
  for (const { name, fixed } of entries) {
    const rest = Buffer.alloc(paddedLength(name.length) - fixedBytes);
    rest.writeUInt16BE(Math.min(name.length, nameLengthMask));
    name.copy(rest, 2);
    pieces.push(fixed, rest);
  }
  const body = Buffer.concat(pieces);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

interface ReadName {
  name: Buffer;
  /** It repeats nothing of the name before. */
  isWhole: boolean;
  /** Where the next entry starts. */
  end: number;
}

/** Entries end with one to eight zero bytes, at a multiple of eight. */
function plainName(bytes: Buffer, at: number, nameAt: number): ReadName {
  const end = endOfName(bytes, nameAt);
  return { name: bytes.subarray(nameAt, end), isWhole: true, end: at + ((end - at + 8) & ~7) };
}

/** A name that repeats the beginning of the one before. */
function compressedName(bytes: Buffer, nameAt: number, before: Buffer): ReadName {
  let byte = bytes.readUInt8(nameAt++);
  let removed = byte & 127;
  while (byte & 128) {
    byte = bytes.readUInt8(nameAt++);
    removed = (removed + 1) * 128 + (byte & 127);
  }
  if (removed > before.length) throw new RangeError('a name is shorter than nothing');
  const end = endOfName(bytes, nameAt);
  const kept = before.subarray(0, before.length - removed);
  return { name: Buffer.concat([kept, bytes.subarray(nameAt, end)]), isWhole: kept.length === 0, end: end + 1 };
}

function endOfName(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0, at);
  if (end < 0) throw new RangeError('a name has no end');
  return end;
}

function paddedLength(nameLength: number): number {
  return (fixedBytes + 2 + nameLength + 8) & ~7;
}

/** A name that stays in the work tree and out of its repository. */
function isOrdinaryName(name: Buffer): boolean {
  return name
    .toString('latin1')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}

/** Whether what follows the entries can be left out: extensions in capital letters only save work. */
function hasOnlyHints(bytes: Buffer, from: number): boolean {
  let at = from;
  for (; at < bytes.length - checksumBytes; at += 8 + bytes.readUInt32BE(at + 4))
    if (!/^[A-Z]/.test(bytes.toString('latin1', at, at + 1))) return false;
  return at === bytes.length - checksumBytes;
}
