import { crc32 } from 'node:zlib';
import { isHidden, isSystemFile, mentionedFiles } from '../../hidden-files.ts';
import { ExtractError } from '../extract-error.ts';
import { openZip, type ZipEntry } from './zip.ts';

/** The limit of one unpacked file of an archive, in bytes. */
const FILE_MAX = 32 * 2 ** 20;

/**
 * The limit of a nested archive in bytes, if the archive contains only archives; the reader's answer allows little
 * more.
 */
const ARCHIVE_MAX = 60 * 2 ** 20;

/** Limits of all files in an archive: their number and their total declared size. */
export const FILES_MAX = 20_000;
export const BYTES_MAX = 2 ** 30;

/** The limit of an omitted file's name, in UTF-16 units. */
export const NAME_MAX = 200;

/** Texts that may mention hidden files, and the limit of a text that is searched for them, in bytes. */
const TEXT_NAME = /\.(?:md|markdown|mdx|html?|txt|adoc|asciidoc|ipynb)$/i;
const TEXT_MAX = 2 ** 21;

/** Entries of packed documents that plain archives do not have. */
const DOCUMENT_ENTRY =
  /^(?:word\/document\d*\.xml|META-INF\/container\.xml|xl\/workbook\.(?:xml|bin)|ppt\/presentation\.xml|content\.xml|visio\/document\.xml|Index\/Document\.iwa|Index\.zip)$/;

export interface PackedFile {
  name: string;
  /** Reads the bytes of the file. Throws an ExtractError. */
  read(): Buffer;
}

/** Entries of an archive that are not files of the upload. */
export interface LeftOut {
  /** The number of hidden files and of files that operating systems add. */
  hidden: number;
  symbolic_links: number;
  /** The names of the first of these entries. */
  names: string[];
}

/** The number of omitted files that are named. */
export const LEFT_OUT_NAMED = 3;

/**
 * Lists the files of a ZIP archive, and the omitted entries; undefined if it is a document in ZIP format. Throws an
 * ExtractError.
 */
export function filesIn(bytes: Uint8Array): { files: PackedFile[]; left_out: LeftOut } | undefined {
  const links: string[] = [];
  const entries = openZip(bytes, (name) => links.push(name));
  if (isPackedDocument(entries)) return undefined;
  const isShown = shownHidden(entries);
  const hidden = entries.filter(({ name }) => isHidden(name) && !isShown(name));
  const files = entries.filter(({ name }) => !isHidden(name) || isShown(name));
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > FILES_MAX || total > BYTES_MAX) throw archiveTooLarge();
  const names = [...links, ...hidden.map(({ name }) => name)].slice(0, LEFT_OUT_NAMED);
  const most = files.every(({ name }) => isArchiveName(name)) ? ARCHIVE_MAX : FILE_MAX;
  return {
    files: files.map((entry) => ({ name: entry.name, read: () => readWhole(entry, most) })),
    left_out: {
      hidden: hidden.length,
      symbolic_links: links.length,
      names: names.map((name) => name.slice(0, NAME_MAX).toWellFormed()),
    },
  };
}

/** Finds the hidden files that texts of the archive show or link to. */
function shownHidden(entries: readonly ZipEntry[]): (name: string) => boolean {
  if (!entries.some(({ name }) => isHidden(name) && !isSystemFile(name))) return () => false;
  const mentioned = mentionedFiles();
  for (const entry of entries) {
    if (!TEXT_NAME.test(entry.name) || isHidden(entry.name) || entry.size > TEXT_MAX) continue;
    try {
      mentioned.read(entry.read(TEXT_MAX).toString('utf8'));
    } catch (error) {
      // Damage is reported when the file is read.
      if (!(error instanceof ExtractError)) throw error;
    }
  }
  return (name) => !isSystemFile(name) && mentioned.isMentioned(name);
}

/**
 * Reads the complete bytes of a file and verifies its checksum, because a damaged file must not become a page. Throws
 * an ExtractError.
 */
function readWhole(entry: ZipEntry, most: number): Buffer {
  const bytes = entry.read(most);
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc) {
    throw new ExtractError('unreadable', 'the file is damaged in its archive; pack it again and upload it again');
  }
  return bytes;
}

export function isArchiveName(name: string): boolean {
  return /\.zip$/i.test(name);
}

export function archiveTooLarge(): ExtractError {
  const most = `${FILES_MAX.toLocaleString('en')} files or ${BYTES_MAX / 2 ** 30} GiB`;
  return new ExtractError('too_large', `the archive has more than ${most}; split it into several archives`);
}

function isPackedDocument(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => DOCUMENT_ENTRY.test(name));
}

/** Returns the media type that OpenDocument and EPUB files declare in the file `mimetype`; "" without one. */
export function mimetypeOf(entries: readonly ZipEntry[]): string {
  return (
    entries
      .find(({ name, size }) => name === 'mimetype' && size < 200)
      ?.read(200)
      .toString('latin1') ?? ''
  );
}
