import { type CitedPlace, placesOf } from '@ibid/documents/cite-blocks.ts';
import { completeness } from '@ibid/documents/compile-file.ts';
import { isDocument } from '@ibid/documents/formats/file-type.ts';
import type { Kind } from '@ibid/documents/formats/kinds.ts';
import type { Loss } from '@ibid/documents/formats/losses.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import type { DocumentReader } from '../../platform/sandbox/document-reader.ts';
import type { CompileOutput, Sandbox, SplitOutput } from '../../platform/sandbox/sandbox.ts';
import { blocksOf, repeatedHead, type ShownBlock } from '../ingest/compile-sections.ts';
import { readTextFile } from '../ingest/read-text-file.ts';

export interface ReadingTools {
  blobs: Pick<Blobs, 'stream' | 'read'>;
  reader: DocumentReader;
  sandbox: Sandbox;
}

/** A stored file. `content_type` is the declared type of the upload. */
export interface StoredFile {
  wiki_id: string;
  source_id: string;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

export interface ReadAgain {
  ok: true;
  kind: Kind;
  content_type: string;
  title: string;
  language: string;
  text: string;
  /** One page, or a page for each part of a long document. */
  parts: ReadPart[];
  /** Content of the file that the text lacks, and the number of characters in the file. */
  losses: readonly Loss[];
  file_characters: number;
  /** False for a document that is split into parts. */
  isOnePage: boolean;
}

/** The blocks that one page must show. */
export interface ReadPart {
  /** The page's own blocks, in order, with their ranges in the text. */
  places: readonly CitedPlace[];
  /**
   * The headings of the parts below this one. The page ends with links to those parts; each link has the words of its
   * heading and cites it.
   */
  below: readonly CitedPlace[];
}

export type Reading = ReadAgain | { ok: false; code: string; message: string; isLimited?: boolean };

/** The path affects only links, which are not compared. */
const PAGE_PATH = 'page';
const NO_PAGES: ReadonlyMap<string, string> = new Map();

/**
 * Reads a stored file as an upload does, in the same sandboxed processes: its text, and the blocks with their hashes.
 * Documents with more than `partsMax` parts are not read. `withoutPictures` reads as if the limit for pictures had been
 * met. Throws errors of the store, ENOENT if the file is missing.
 */
export async function rereadFile(
  { blobs, reader, sandbox }: ReadingTools,
  file: StoredFile,
  { partsMax, withoutPictures }: { partsMax: number; withoutPictures: boolean },
): Promise<Reading> {
  const { wiki_id, source_id, filename, content_type, byte_size, sha256 } = file;
  const { bytes, rest } = await readTextFile(blobs, file);
  const input = { wiki_id, filename, content_type, bytes, page_path: PAGE_PATH, ...(rest && { rest }) };
  let result: CompileOutput | SplitOutput;
  if (isDocument(input)) {
    const open = () => blobs.stream(sha256);
    const read = await reader.read({ owner: source_id, filename, content_type, withoutPictures, byte_size, open });
    if (!read.ok) return read;
    result = await sandbox.compileOrSplit({ ...input, bytes: new Uint8Array(), document: read.document }, NO_PAGES);
  } else {
    result = await sandbox.compileOrSplit(input, NO_PAGES);
  }
  if (!result.ok) return result;
  if ('parts' in result) return rereadParts(sandbox, file, result, partsMax);
  const { kind, content_type: type, title, language, source_text: text, citations, losses, file_characters } = result;
  return {
    ok: true,
    kind,
    content_type: type,
    title,
    language,
    text,
    parts: [{ places: placesOf(citations), below: [] }],
    losses,
    file_characters,
    isOnePage: true,
  };
}

/** Compiles the parts in order and joins their texts, as compileSections does. */
async function rereadParts(
  sandbox: Sandbox,
  { wiki_id, filename, content_type }: StoredFile,
  { ok, parts, ...read }: SplitOutput,
  partsMax: number,
): Promise<Reading> {
  if (parts.length > partsMax)
    return { ok: false, code: 'too_many_parts', message: `the file has ${parts.length} parts` };
  const texts: string[] = [];
  const all: ShownBlock[][] = [];
  let title = '';
  let language = '';
  let length = 0;
  for (const [i, { markdown, block_pages, lines, repeatsHead, title: name }] of parts.entries()) {
    const document = { ...read, title: i === 0 ? read.title : name, markdown, block_pages, lines };
    const input = { wiki_id, filename, content_type, bytes: new Uint8Array(), page_path: PAGE_PATH, document };
    const own = markdown === '' ? undefined : await sandbox.compile(input, NO_PAGES);
    if (own && !own.ok) return own;
    if (i === 0) {
      title = own?.title ?? read.title;
      language = own?.language ?? read.language;
    }
    const head = own && repeatsHead ? repeatedHead(own, all[i - 1]) : undefined;
    const from = head ? head.text.length + 1 : 0;
    const blocks = own ? blocksOf(own, length - from) : [];
    all.push(head ? [head, ...blocks.slice(1)] : blocks);
    if (!own || own.text === '') continue;
    const text = own.text.slice(from);
    texts.push(text);
    length += text.length + 1;
  }
  const { kind } = read;
  const text = texts.join('\n');
  return {
    ok: true,
    kind,
    content_type: read.content_type,
    title,
    language,
    text,
    parts: all.map((places, i) => ({
      places,
      below: all.flatMap(([first], at) => (parts[at]?.parent === i ? (first ?? []) : [])),
    })),
    ...completeness(read, text),
    isOnePage: false,
  };
}
