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
import { hasNoAttemptsLeft, INTERRUPTED } from './file-attempts.ts';
import { placePictures, placePicturesOfText } from './pictures.ts';
import type { SectionPlans } from './plan-sections.ts';
import { readTextFile } from './read-text-file.ts';
import { withShownFiles } from './surroundings/attached-files.ts';
import type { KnownFiles } from './surroundings/files-around.ts';
import type { KnownTitles } from './surroundings/known-titles.ts';

export interface CompilingNeeds {
  blobs: Blobs;
  /** Reads documents: PDF, Word, EPUB. */
  reader: DocumentReader;
  /** Renders texts and extracted documents. */
  sandbox: Sandbox;
  log: Logger;
}

/** The result of reading a file: a page, the parts of a long document, or an error. */
interface Read {
  result: CompileOutput | SplitOutput;
  pictures: readonly PlacedPicture[];
  /** The bytes of a text file, which may embed pictures as data URLs. */
  text?: Uint8Array;
}

/**
 * Returns a function that compiles a file of an upload to its pages: one, or several for a long document. `around` has
 * the files that texts may link to, `titles` the titles that documents may mention.
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
    // If pages are planned below this failed file, give their folder a page anyway.
    const { pages } = around.known();
    const hasBelow = [...pages.values()].some((path) => path.startsWith(`${file.page_path}/`));
    const names = [...(hasBelow ? pages : [])].flatMap(([name, path]) => (path === file.page_path ? name : []));
    const folder = names.find((name) => name !== file.filename && !name.startsWith(EARLIER_UPLOAD_PREFIX));
    const page = folder === undefined ? undefined : await folderPage(file, folder);
    return { ...compiled, page: page?.ok ? page : undefined };
  }

  async function readBytes(file: PendingFile): Promise<Read> {
    const { filename, content_type, page_path } = file;
    if (hasNoAttemptsLeft(file)) return { result: INTERRUPTED, pictures: [] };
    try {
      const { bytes, rest } = await readTextFile(blobs, file);
      if (isDocument({ filename, content_type, bytes })) return await readDocument(file);
      const input = { wiki_id, filename, content_type, bytes, page_path, site_root, ...(rest && { rest }) };
      const result = await compileAmong(input);
      return { result, pictures: [], text: bytes };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      log.error({ err: error, filename }, 'stored bytes of an uploaded file are missing');
      const message = 'the stored bytes are missing; upload the file again';
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

  /** References of a long document are known only after its parts are compiled, so load everything. */
  async function allAround() {
    await around.includeAll();
    return { pages: around.known().pages, titles: await titles.all(), site_root };
  }

  /**
   * Compiles a text, then looks up its references in the rest of the wiki. Compiles it again if any of them resolves to
   * another page, or if it mentions a title.
   */
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
