import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { namesOf, type RawName } from '@ibid/documents/formats/zip/zip-names.ts';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { ArchiveError, invalid } from './archive-error.ts';

/** The files of a ZIP, by name. All entries are checked before the first file is read. */
export interface Archive {
  names: readonly string[];
  has(name: string): boolean;
  /** Returns the checksum that the archive states. Throws if the file is missing. */
  crc32(name: string): number;
  size(name: string): number;
  /** Throws an ArchiveError if the file is corrupt or longer than `max` bytes. */
  read(name: string, max: number): Promise<Buffer>;
  /** Yields the unpacked bytes; throws an ArchiveError if they are corrupt. */
  chunks(name: string): AsyncGenerator<Buffer>;
  close(): void;
}

interface ArchiveLimits {
  entries: number;
  /** Unpacked size of all files. */
  bytes: number;
}

/** Maximum compression ratio of a large file. Texts reach 100, zip bombs 1,000. */
const RATIO_MAX = 500;
const RATIO_FROM = 16 * 2 ** 20;
const NAME_MAX = 1_024;

/**
 * Opens a ZIP. No file is ever written to a path from the archive. Throws an ArchiveError if the file is not a ZIP, is
 * encrypted, corrupt or a bomb, or has filenames that lead out of it.
 */
export async function openArchive(stream: Readable, limits: ArchiveLimits): Promise<Archive> {
  const zip = await opened(stream);
  try {
    const entries = await readEntries(zip, limits);
    const entryOf = (name: string) => {
      const entry = entries.get(name);
      if (!entry) throw invalid(`The archive lacks the required file ${shown(name)}.`);
      return entry;
    };
    return {
      names: [...entries.keys()],
      has: (name) => entries.has(name),
      crc32: (name) => entryOf(name).crc32,
      size: (name) => entryOf(name).uncompressedSize,
      read: (name, max) => readWhole(zip, entryOf(name), name, max),
      chunks: (name) => unpack(zip, entryOf(name), name),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Copies the ZIP to a temporary file and unlinks it at once, so that nothing is left however the process ends. */
async function opened(stream: Readable): Promise<ZipFile> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-import-'));
  try {
    const path = join(folder, 'archive.zip');
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }));
    // Names are decoded as in uploads, but invalid ones are refused instead of repaired.
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false };
    return await yauzl.openPromise(path, options).catch((error: unknown) => {
      throw broken(error);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readEntries(zip: ZipFile, limits: ArchiveLimits): Promise<Map<string, Entry>> {
  if (zip.entryCount > limits.entries) throw tooLarge(`The archive has more than ${limits.entries} files`);
  const found: Entry[] = [];
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      bytes += entry.uncompressedSize;
      if (bytes > limits.bytes) throw tooLarge(`The archive unpacks to more than ${limits.bytes} bytes`);
      found.push(entry);
    }
  } catch (error) {
    throw broken(error);
  }
  // Decode the names of an archive together, because one system wrote them all.
  const names = namesOf(found.map(rawNameOf));
  const entries = new Map<string, Entry>();
  for (const [i, entry] of found.entries()) {
    const name = names[i] ?? '';
    refuseHostile(entry, name);
    if (name.endsWith('/')) continue;
    if (entries.has(name)) throw invalid(`The archive has two files named ${shown(name)}.`);
    entries.set(name, entry);
  }
  return entries;
}

function rawNameOf({ fileNameRaw, extraFieldRaw, generalPurposeBitFlag }: Entry): RawName {
  return { bytes: fileNameRaw, isDeclaredUtf8: (generalPurposeBitFlag & 0x800) !== 0, extra: extraFieldRaw };
}

function refuseHostile(entry: Entry, name: string): void {
  const { compressedSize, uncompressedSize, compressionMethod } = entry;
  if (/[\0\\]|^\/|^[a-zA-Z]:|(^|\/)\.\.(\/|$)/.test(name))
    throw invalid(`The name of the file ${shown(name)} leads out of the archive.`);
  if (name === '' || name.length > NAME_MAX || !name.isWellFormed())
    throw invalid(`The archive has a file with an invalid name: ${shown(name)}.`);
  if (entry.isEncrypted()) throw invalid('The archive is encrypted. Pack it again without a password.');
  if (compressionMethod !== 0 && compressionMethod !== 8)
    throw invalid(`${shown(name)} uses a compression method other than DEFLATE. Pack the archive as a plain ZIP.`);
  // The upper half is a file's mode on Unix: of anything but files and folders (links, devices) nothing is taken.
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000 && kind !== 0o040000)
    throw invalid(`${shown(name)} is a link or a device, not a file.`);
  if (uncompressedSize > RATIO_FROM && uncompressedSize > RATIO_MAX * compressedSize)
    throw tooLarge(`${shown(name)} unpacks to ${uncompressedSize} bytes, far more than its packed size`);
}

/** yauzl throws if an entry has another length than stated. */
async function* unpack(zip: ZipFile, entry: Entry, name: string): AsyncGenerator<Buffer> {
  let sum = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw broken(error);
  }
  if (sum !== entry.crc32) throw invalid(`${shown(name)} is damaged: its checksum does not match.`);
}

async function readWhole(zip: ZipFile, entry: Entry, name: string, max: number): Promise<Buffer> {
  if (entry.uncompressedSize > max) throw tooLarge(`${shown(name)} is longer than ${max} bytes`);
  const chunks: Buffer[] = [];
  for await (const chunk of unpack(zip, entry, name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function broken(cause: unknown): ArchiveError {
  if (cause instanceof ArchiveError) return cause;
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : '';
  return invalid(`The file is not a readable ZIP archive (${reason}). Create it again.`, cause);
}

function tooLarge(what: string): ArchiveError {
  return new ArchiveError('archive_too_large', `${what}. Split the archive.`);
}

export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200).toWellFormed());
}
