import { inflateRawSync } from 'node:zlib';
import { ExtractError } from '../extract-error.ts';
import { extraField, namesOf, type RawName } from './zip-names.ts';

export interface ZipEntry {
  /** The name in the archive, with slashes in place of backslashes by Windows archivers. Never used as a path. */
  name: string;
  /** The declared size; reading stops at this size. */
  size: number;
  /** The declared CRC-32 of the bytes. */
  crc: number;
  /** Reads the bytes. Throws an ExtractError if the entry is damaged, encrypted or larger than `max`. */
  read(max: number): Buffer;
}

/** The limit of entries in the directory, which is held in memory. */
const ENTRIES_MAX = 100_000;

/** The error message for a damaged archive. */
export const DAMAGED = 'the archive is damaged; pack it again and upload it again';

const DIRECTORY_END = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_END = 0x06064b50;
const EXTRA_ZIP64 = 0x0001;
const SLASH = 0x2f;

/**
 * Lists the files of a ZIP archive from its central directory, without folders and symbolic links; passes links to
 * `onLink`. Does not trust declared sizes: reading never exceeds them. Throws an ExtractError.
 */
export function openZip(archive: Uint8Array, onLink: (name: string) => void = () => undefined): ZipEntry[] {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const directory = findDirectory(zip);
  let { at } = directory;
  if (directory.count > ENTRIES_MAX) throw tooMany();
  const raw: RawName[] = [];
  const found: (Omit<ZipEntry, 'name'> & { isLink: boolean })[] = [];
  const starts = new Set<number>();
  for (let i = 0; i < directory.count; i += 1) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw damaged();
    const flags = zip.readUInt16LE(at + 8);
    const method = zip.readUInt16LE(at + 10);
    const crc = zip.readUInt32LE(at + 16);
    const mode = zip.readUInt32LE(at + 38) >>> 16;
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    const extra = zip.subarray(nameEnd, nameEnd + zip.readUInt16LE(at + 30));
    const [unpacked = 0, size = 0, start = 0] = largeNumbers(
      [zip.readUInt32LE(at + 24), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)],
      extra,
    );
    const bytes = zip.subarray(at + 46, nameEnd);
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    // A symbolic link is not a file. Overlapping entries are refused, because they let a small archive unpack to a huge
    // size.
    const isLink = (mode & 0o170000) === 0o120000;
    if (bytes.at(-1) === SLASH) continue;
    if (starts.has(start)) throw damaged();
    starts.add(start);
    raw.push({ bytes, isDeclaredUtf8: (flags & 0x800) !== 0, extra });
    found.push({
      isLink,
      size: unpacked,
      crc,
      read: (max) => {
        if (unpacked > max) throw tooLarge();
        return readEntry(zip, { start, size, method, flags }, unpacked);
      },
    });
  }
  // Archivers without ZIP64 count modulo 65,536; refuse, because the other entries would be silently ignored.
  if (at + 4 <= zip.length && zip.readUInt32LE(at) === DIRECTORY_ENTRY) throw tooMany();
  const names = namesOf(raw);
  return found.flatMap(({ isLink, ...entry }, i) => {
    const name = (names[i] ?? '').replaceAll('\\', '/');
    if (name.endsWith('/')) return [];
    if (isLink) onLink(name);
    return isLink ? [] : [{ name, ...entry }];
  });
}

/** Throws an ExtractError if an entry is damaged, or if all entries unpack to more than `max` bytes. */
export function assertUnpacks(entries: readonly ZipEntry[], max: number): void {
  let left = max;
  for (const entry of entries) left -= entry.read(left).length;
}

function readEntry(
  zip: Buffer,
  entry: { start: number; size: number; method: number; flags: number },
  max: number,
): Buffer {
  const { start, size, method, flags } = entry;
  if ((flags & 1) !== 0)
    throw new ExtractError('unreadable', 'the file is password-protected; pack it without a password');
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
    // The entry is damaged or unpacks to more than it declares.
    throw damaged();
  }
}

/** Returns the offset of the directory and the number of its entries, from the ZIP64 record if it exists. */
function findDirectory(zip: Buffer): { at: number; count: number } {
  const end = findDirectoryEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  const at = zip.readUInt32LE(end + 16);
  if (end < 20 || zip.readUInt32LE(end - 20) !== ZIP64_LOCATOR) return { at, count };
  const record = Number(zip.readBigUInt64LE(end - 12));
  if (record + 56 > zip.length || zip.readUInt32LE(record) !== ZIP64_END) throw damaged();
  return { at: Number(zip.readBigUInt64LE(record + 48)), count: Number(zip.readBigUInt64LE(record + 32)) };
}

/** Resolves numbers of an entry: a number with all bits set is in the entry's ZIP64 extra field, in order. */
function largeNumbers(numbers: readonly number[], extra: Buffer): number[] {
  if (!numbers.includes(0xffffffff)) return [...numbers];
  let field = extraField(extra, EXTRA_ZIP64);
  return numbers.map((number) => {
    if (number !== 0xffffffff) return number;
    if (!field || field.length < 8) throw damaged();
    const large = Number(field.readBigUInt64LE(0));
    field = field.subarray(8);
    return large;
  });
}

/** Finds the end record, which is at the end of the file, followed only by a comment of at most 64 KiB. */
function findDirectoryEnd(zip: Buffer): number {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - 22 - 0xffff); at -= 1) {
    if (zip.readUInt32LE(at) === DIRECTORY_END && at + 22 + zip.readUInt16LE(at + 20) <= zip.length) return at;
  }
  throw damaged();
}

function damaged(): ExtractError {
  return new ExtractError('unreadable', DAMAGED);
}

function tooMany(): ExtractError {
  return new ExtractError('too_large', 'the archive has too many files; split it into several archives');
}

function tooLarge(): ExtractError {
  return new ExtractError('too_large', 'the unpacked content of the file is too large; split it and upload its parts');
}
