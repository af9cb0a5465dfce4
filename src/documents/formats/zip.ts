import { inflateRawSync } from 'node:zlib';
import { ExtractError } from './extract-error.ts';

export interface ZipEntry {
  /** As the archive has it: nothing is ever written under it. */
  name: string;
  /** How many bytes it says that it has; it is not read beyond them. */
  size: number;
  /** Its bytes. Throws an ExtractError for what is damaged, encrypted or larger than `max`. */
  read(max: number): Buffer;
}

/** More names than anybody packs; their list is held in memory. */
const ENTRIES_MAX = 100_000;

const DIRECTORY_END = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;

/**
 * The files of a ZIP archive, as its directory at the end lists them; folders are left out. No size that the archive
 * states is believed: nothing is read beyond it. Throws an ExtractError.
 */
export function openZip(bytes: Uint8Array): ZipEntry[] {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findDirectoryEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff || count > ENTRIES_MAX) {
    throw new ExtractError('too_large', 'the archive has too many files; split it into several archives');
  }
  const entries: ZipEntry[] = [];
  const starts = new Set<number>();
  for (let i = 0; i < count; i += 1) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw damaged();
    const flags = zip.readUInt16LE(at + 8);
    const method = zip.readUInt16LE(at + 10);
    const size = zip.readUInt32LE(at + 20);
    const unpacked = zip.readUInt32LE(at + 24);
    const nameLength = zip.readUInt16LE(at + 28);
    const mode = zip.readUInt32LE(at + 38) >>> 16;
    const start = zip.readUInt32LE(at + 42);
    const name = nameOf(zip.subarray(at + 46, at + 46 + nameLength), flags);
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    // A link is no file, and entries that share their bytes are how a small archive becomes a huge one.
    const isLink = (mode & 0o170000) === 0o120000;
    if (name.endsWith('/') || isLink) continue;
    if (starts.has(start)) throw damaged();
    starts.add(start);
    entries.push({
      name,
      size: unpacked,
      read: (max) => {
        if (unpacked > max) throw tooLarge();
        return readEntry(zip, { start, size, method, flags }, unpacked);
      },
    });
  }
  return entries;
}

function readEntry(
  zip: Buffer,
  entry: { start: number; size: number; method: number; flags: number },
  max: number,
): Buffer {
  const { start, size, method, flags } = entry;
  if ((flags & 1) !== 0)
    throw new ExtractError('unreadable', 'the file is protected by a password; pack it without one');
  if (start + 30 > zip.length || zip.readUInt32LE(start) !== LOCAL_ENTRY) throw damaged();
  const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
  if (from + size > zip.length) throw damaged();
  const packed = zip.subarray(from, from + size);
  if (method === 0) {
    if (size > max) throw damaged();
    return packed;
  }
  if (method !== 8)
    throw new ExtractError('unreadable', 'the file is packed in an unusual way; pack it as a plain ZIP');
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(max, 1) });
  } catch {
    // Also what unpacks to more than it says.
    throw damaged();
  }
}

/** Names are UTF-8 where the archive says so or they can be read so; else they are of the DOS of old (CP437, as Latin-1). */
function nameOf(bytes: Buffer, flags: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // What is no UTF-8 has a name all the same: broken letters of one that says that it is, and else those of DOS.
    return (flags & 0x800) !== 0 ? bytes.toString('utf8') : bytes.toString('latin1');
  }
}

/** The directory's end is the last thing, but for a comment of at most 64 KiB. */
function findDirectoryEnd(zip: Buffer): number {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 22 - 0xffff); at -= 1) {
    if (zip.readUInt32LE(at) === DIRECTORY_END && at + 22 + zip.readUInt16LE(at + 20) <= zip.length) return at;
  }
  throw damaged();
}

function damaged(): ExtractError {
  return new ExtractError('unreadable', 'the archive is damaged; pack it anew and upload it again');
}

function tooLarge(): ExtractError {
  return new ExtractError('too_large', 'what is packed in the file is too large; split it and upload its parts');
}
