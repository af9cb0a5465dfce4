import { crc32 } from 'node:zlib';
import { isHidden, isSystemFile, mentionedFiles } from '../../hidden-files.ts';
import { ExtractError } from '../extract-error.ts';
import { openZip, type ZipEntry } from './zip.ts';

/** The limit of one unpacked file of an archive, in bytes. */
const FILE_MAX = 32 * 2 ** 20;

/** The limit of an archive in an archive that holds nothing else, in bytes; an answer of the reader has little more. */
const ARCHIVE_MAX = 60 * 2 ** 20;

/** The limits of all files of an archive: their number and their declared size. */
export const FILES_MAX = 20_000;
export const BYTES_MAX = 2 ** 30;

/** Of the name of a file that is left out. */
export const NAME_MAX = 200;

/** Texts that can show hidden files, and how much of one is read for that, in bytes. */
const TEXT_NAME = /\.(?:md|markdown|mdx|html?|txt|adoc|asciidoc|ipynb)$/i;
const TEXT_MAX = 2 ** 21;

/** Files that packed documents have and plain archives do not. */
const DOCUMENT_ENTRY =
  /^(?:word\/document\d*\.xml|META-INF\/container\.xml|xl\/workbook\.(?:xml|bin)|ppt\/presentation\.xml|content\.xml|visio\/document\.xml|Index\/Document\.iwa|Index\.zip)$/;

export interface PackedFile {
  name: string;
  /** Reads its bytes. Throws an ExtractError. */
  read(): Buffer;
}

/** What of an archive is no file of the upload. */
export interface LeftOut {
  /** Hidden files, and those that operating systems add. */
  hidden: number;
  symbolic_links: number;
  /** The names of the first ones. */
  names: string[];
}

/** Files left out that are named. */
export const LEFT_OUT_NAMED = 3;

/**
 * The files of a ZIP archive, and what of it is left out; undefined if it is a document in ZIP format. Throws an
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

/** Which hidden files of an archive its texts show or link to. */
function shownHidden(entries: readonly ZipEntry[]): (name: string) => boolean {
  if (!entries.some(({ name }) => isHidden(name) && !isSystemFile(name))) return () => false;
  const mentioned = mentionedFiles();
  for (const entry of entries) {
    if (!TEXT_NAME.test(entry.name) || isHidden(entry.name) || entry.size > TEXT_MAX) continue;
    try {
      mentioned.read(entry.read(TEXT_MAX).toString('utf8'));
    } catch (error) {
      // What is damaged is told of where it becomes a file.
      if (!(error instanceof ExtractError)) throw error;
    }
  }
  return (name) => !isSystemFile(name) && mentioned.isMentioned(name);
}

/** The bytes of a file as they were packed: what is damaged must not become a page. Throws an ExtractError. */
function readWhole(entry: ZipEntry, most: number): Buffer {
  const bytes = entry.read(most);
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc) {
    throw new ExtractError('unreadable', 'the file is damaged in its archive; pack it again and upload it again');
  }
  return bytes;
}

/** Whether a file is called as archives are. */
export function isArchiveName(name: string): boolean {
  return /\.zip$/i.test(name);
}

export function archiveTooLarge(): ExtractError {
  const most = `${FILES_MAX.toLocaleString('en')} files or ${BYTES_MAX / 2 ** 30} GiB`;
  return new ExtractError('too_large', `the archive has more than ${most} in it; split it into several`);
}

function isPackedDocument(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => DOCUMENT_ENTRY.test(name));
}

/** The media type that OpenDocument and EPUB files have in a file of this name; "" without one. */
export function mimetypeOf(entries: readonly ZipEntry[]): string {
  return (
    entries
      .find(({ name, size }) => name === 'mimetype' && size < 200)
      ?.read(200)
      .toString('latin1') ?? ''
  );
}
