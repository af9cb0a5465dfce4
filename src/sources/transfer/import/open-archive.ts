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

/** The files of a ZIP, by their names, all of which were looked at before the first one is read. */
export interface Archive {
  names: readonly string[];
  has(name: string): boolean;
  /** The checksum that the archive states. Throws where there is no such file. */
  crc32(name: string): number;
  size(name: string): number;
  /** Throws an ArchiveError for a file that is broken, or longer than `max` bytes. */
  read(name: string, max: number): Promise<Buffer>;
  /** The bytes as they are unpacked; ends with an ArchiveError where they are broken. */
  chunks(name: string): AsyncGenerator<Buffer>;
  close(): void;
}

interface ArchiveLimits {
  entries: number;
  /** Of all files together when they are unpacked. */
  bytes: number;
}

/** How many times smaller than its content a large file may be packed; texts come to 100, bombs to 1,000. */
const RATIO_MAX = 500;
const RATIO_FROM = 16 * 2 ** 20;
const NAME_MAX = 1_024;

/**
 * Opens a ZIP. Nothing of it is ever written to a path that it names. Throws an ArchiveError for what is no ZIP, is
 * encrypted, broken or a bomb, or has names that lead out of it.
 */
export async function openArchive(stream: Readable, limits: ArchiveLimits): Promise<Archive> {
  const zip = await opened(stream);
  try {
    const entries = await readEntries(zip, limits);
    const entryOf = (name: string) => {
      const entry = entries.get(name);
      if (!entry) throw invalid(`The archive has no file ${shown(name)}, which it should have.`);
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

/** In a file of its own whose name is taken away at once, so that nothing is left of it however the process ends. */
async function opened(stream: Readable): Promise<ZipFile> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-import-'));
  try {
    const path = join(folder, 'archive.zip');
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }));
    // Names are decoded as those of uploads are, and refused here rather than mended.
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
  // The names of one archive are decoded together: they were written by one system.
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
    throw invalid(`The archive has a file ${shown(name)}, whose name leads out of it.`);
  if (name === '' || name.length > NAME_MAX || !name.isWellFormed())
    throw invalid(`The archive has a file with a name that cannot be: ${shown(name)}.`);
  if (entry.isEncrypted()) throw invalid('The archive is encrypted. Unpack it and pack it without a password.');
  if (compressionMethod !== 0 && compressionMethod !== 8)
    throw invalid(`${shown(name)} is packed in a way other than DEFLATE. Pack the archive as a plain ZIP.`);
  // The upper half is a file's mode on Unix: of anything but files and folders (links, devices) nothing is taken.
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000 && kind !== 0o040000)
    throw invalid(`${shown(name)} is a link or a device, and no file.`);
  if (uncompressedSize > RATIO_FROM && uncompressedSize > RATIO_MAX * compressedSize)
    throw tooLarge(`${shown(name)} unpacks to ${uncompressedSize} bytes, far more than it is packed in`);
}

/** Of another length than it says, an entry fails by itself. */
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
  if (sum !== entry.crc32) throw invalid(`${shown(name)} is broken: its checksum is another one.`);
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
  return invalid(`The file is no ZIP archive that can be read (${reason}). Create it again.`, cause);
}

function tooLarge(what: string): ArchiveError {
  return new ArchiveError('archive_too_large', `${what}. Split the archive.`);
}

export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200).toWellFormed());
}
