import type { CompileInput } from '@ibid/documents/compile-input.ts';
import { titleFromFilename } from '@ibid/documents/formats/extracted.ts';
import { isDocument } from '@ibid/documents/formats/file-type.ts';
import { EARLIER_UPLOAD_PREFIX, pageOfReference } from '@ibid/documents/links/find-file.ts';
import type { Logger } from 'pino';
import type { Query } from '../../platform/db/db.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import type { DocumentReader } from '../../platform/sandbox/document-reader.ts';
import type { CompileOutput, Sandbox, SplitOutput } from '../../platform/sandbox/sandbox.ts';
import { compileSections } from './compile-sections.ts';
import type { CompiledUploadFile, PendingFile, PlacedPicture } from './compiled-upload.ts';
import { INTERRUPTED, isGivenUp } from './file-attempts.ts';
import { placePictures, placePicturesOfText } from './pictures.ts';
import type { SectionPlans } from './plan-sections.ts';
import { readTextFile } from './read-text-file.ts';
import { withShownFiles } from './surroundings/attached-files.ts';
import type { KnownFiles } from './surroundings/files-around.ts';
import type { KnownTitles } from './surroundings/known-titles.ts';

export interface CompilingNeeds {
  blobs: Blobs;
  /** For documents: PDF, Word, EPUB. */
  reader: DocumentReader;
  /** For texts, and what documents were read to. */
  sandbox: Sandbox;
  log: Logger;
}

/** What a file is read to: one page, what several are made of, or why it is none. */
interface Read {
  result: CompileOutput | SplitOutput;
  pictures: readonly PlacedPicture[];
  /** The bytes of a text, whose addresses may contain pictures. */
  text?: Uint8Array;
}

/**
 * Answers what makes the pages of each file of an upload: one, or several of a document that is too long for one. `around`
 * are the files that its texts may refer to, `titles` what a document may name.
 */
export function fileCompiler(
  { blobs, reader, sandbox, log }: CompilingNeeds,
  query: Query,
  upload: { wiki_id: string; upload_id: string },
  {
    around,
    titles,
    plans,
    stopping,
  }: { around: KnownFiles; titles: KnownTitles; plans: SectionPlans; stopping: AbortSignal },
): (file: PendingFile) => Promise<CompiledUploadFile[]> {
  const { wiki_id, upload_id } = upload;
  const { site_root } = around.known();
  return async (file) => {
    if (file.kind === 'folder') {
      const page = await folderPage(file, file.filename);
      return [{ file, result: page, page: page.ok ? page : undefined, pictures: [] }];
    }
    const { result, pictures, text } = await readBytes(file);
    const compiled =
      'parts' in result
        ? await compileSections({ query, sandbox, plans, stopping }, upload, file, result, await allAround())
        : [{ file, result, page: result.ok ? result : undefined, pictures: [] }];
    const own = { wiki_id, page_id: file.page_id };
    const placed = text ? await placePicturesOfText(query, blobs, own, text, compiled) : { compiled, pictures };
    const made = await Promise.all(
      placed.compiled.map((each) => (each.file === file ? ofFile(each, placed.pictures) : each)),
    );
    return Promise.all(made.map((each) => withShownFiles(query, wiki_id, around.known().attached, each)));
  };

  async function ofFile(compiled: CompiledUploadFile, pictures: readonly PlacedPicture[]): Promise<CompiledUploadFile> {
    const { file, result } = compiled;
    if (result.ok) return { ...compiled, pictures };
    // Other pages lie under the page of this file, so the folder gets a page all the same.
    const { pages } = around.known();
    const hasBelow = [...pages.values()].some((path) => path.startsWith(`${file.page_path}/`));
    const names = [...(hasBelow ? pages : [])].flatMap(([name, path]) => (path === file.page_path ? name : []));
    const folder = names.find((name) => name !== file.filename && !name.startsWith(EARLIER_UPLOAD_PREFIX));
    const page = folder === undefined ? undefined : await folderPage(file, folder);
    return { ...compiled, page: page?.ok ? page : undefined };
  }

  async function readBytes(file: PendingFile): Promise<Read> {
    const { filename, content_type, page_path } = file;
    if (isGivenUp(file)) return { result: INTERRUPTED, pictures: [] };
    try {
      const { bytes, rest } = await readTextFile(blobs, file);
      if (isDocument({ filename, content_type, bytes })) return await readDocument(file);
      const input = { wiki_id, filename, content_type, bytes, page_path, site_root, ...(rest && { rest }) };
      const result = await compileAmong(input);
      return { result, pictures: [], text: bytes };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      log.error({ err: error, filename }, 'the bytes of an uploaded file are gone');
      const message = 'the stored bytes are gone; upload the file again';
      return { result: { ok: false, code: 'bytes_missing', message }, pictures: [] };
    }
  }

  async function readDocument(file: PendingFile): Promise<Read> {
    const { filename, content_type, page_path, page_id, byte_size, sha256 } = file;
    const open = () => blobs.stream(sha256);
    const read = await reader.read({ owner: upload_id, filename, content_type, byte_size, open });
    if (!read.ok) return { result: read, pictures: [] };
    const { document, pictures } = await placePictures(query, blobs, { wiki_id, page_id }, read.document);
    const input = { wiki_id, filename, content_type, bytes: new Uint8Array(), page_path, site_root, document };
    return { result: await compileAmong(input), pictures };
  }

  /** The references and names of a long document are not known before its parts are compiled. */
  async function allAround() {
    await around.includeAll();
    return { pages: around.known().pages, titles: await titles.all(), site_root };
  }

  /** What a text refers to and names is known when it is compiled: it is compiled again if that is elsewhere in the wiki. */
  async function compileAmong(input: CompileInput): Promise<CompileOutput | SplitOutput> {
    const { pages } = around.known();
    const result = await sandbox.compileOrSplit(input, pages, titles.known);
    if (!result.ok || 'parts' in result) return result;
    await around.include([{ file: input, references: result.references }]);
    const now = around.known().pages;
    const isFound = result.references.some(
      (reference) => pageOfReference(reference, input, now) !== pageOfReference(reference, input, pages),
    );
    const named = result.kind === 'markdown' ? undefined : await titles.namedIn(result.text);
    return isFound || named ? sandbox.compileOrSplit(input, now, named ?? titles.known) : result;
  }

  function folderPage({ page_path }: PendingFile, folder: string): Promise<CompileOutput> {
    const bytes = Buffer.from(`# ${titleFromFilename(`${folder}.md`).replace(/([\\`*_[\]<>#])/g, '\\$1')}\n`);
    return sandbox.compile(
      { wiki_id, filename: 'folder.md', content_type: 'text/markdown', bytes, page_path },
      around.known().pages,
    );
  }
}
