import { type IndexedText, indexBody } from '@ibid/markdown/analysis/document-terms.ts';
import { cleanName } from '@ibid/markdown/clean-name.ts';
import { folderOf, linksOf, type PageLink, withWikiLinks } from '@ibid/markdown/page-links.ts';
import { catchOverflow, FRONT_MATTER, parseMarkdown, TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, type PlainReason, type Rendered, renderPlainText, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import { renderTree } from '@ibid/markdown/render.ts';
import type { Root } from 'mdast';
import { type Citations, citeBlocks } from './cite-blocks.ts';
import type { CompileInput } from './compile-input.ts';
import {
  checkDocument,
  checkPage,
  type Extracted,
  MARKDOWN_MAX,
  titleFromFilename,
  type UploadedFile,
} from './formats/extracted.ts';
import { boundLosses, countCharacters, type Loss, unaccounted } from './formats/losses.ts';
import { extract, extractAsPlainText } from './formats/read-text.ts';
import { longTextToMarkdown } from './formats/text/text.ts';
import { titleBelowBanner } from './links/banner-title.ts';
import { editText } from './links/edit-text.ts';
import { relink } from './links/relink.ts';
import { linkRows } from './links/row-links.ts';
import { linkTitles } from './links/title-links.ts';
import { NO_NAMES, type TitleNames } from './links/title-names.ts';
import { isLong, type Part, split } from './split/split-document.ts';
import { uploadLinkResolver } from './upload-link-resolver.ts';

/** The page that a file is compiled to. */
export interface CompiledFile extends Omit<Rendered, 'text_indexed'> {
  kind: Extracted['kind'];
  /** The detected type, whatever was declared. */
  content_type: string;
  markdown: string;
  /** The uploaded files that it links to. */
  links: string[];
  /** The addresses and wiki links in its text that may lead to files, as returned by `relink`. */
  references: string[];
  plain_reason: PlainReason;
  /** The paths of the wiki that its text links to. */
  page_links: PageLink[];
  /** The subset of `page_links` that was added for titles in the text, without links in the file. */
  named_paths: string[];
  /** The full text of the file: the page's text, followed by text that the page leaves out. */
  source_text: string;
  source_indexed: IndexedText;
  citations: Citations;
  /** Content of the file that the text lacks, limited to what can be stored. */
  losses: Loss[];
  /** The number of characters in the file's text, without white space; 0 if they were not counted. */
  file_characters: number;
}

/** A document that is too long for one page, in parts. */
export interface SplitFile
  extends Omit<Extracted, 'markdown' | 'block_pages' | 'lines' | 'rest' | 'pictures' | 'losses'> {
  losses: Loss[];
  parts: Part[];
}

/**
 * Compiles a file to one page, or to parts if its text is too long for one page. Calls `onExtracted` with the length of
 * each text, in UTF-16 units, before it is parsed. Throws an ExtractError if the file cannot be compiled.
 */
export function compileOrSplit(
  file: CompileInput,
  pages: ReadonlyMap<string, string>,
  onExtracted: (length: number) => void,
  names: TitleNames,
): CompiledFile | SplitFile {
  const document = readFile(file);
  if (!isLong(document)) return compileFile({ ...file, document }, pages, onExtracted, names);
  const { markdown, block_pages, lines, rest, pictures, losses, ...read } = document;
  const parts = split(document, titleOf(file, read.title), onExtracted);
  return { ...read, losses: boundLosses(losses ?? []), parts };
}

/** As `compileOrSplit`, for a file that is shown as plain text. Long files are split between lines. */
export function compileOrSplitAsPlainText(file: CompileInput, plain_reason: PlainReason): CompiledFile | SplitFile {
  const { text, kind, title, language, content_type, markdown, losses = [], file_characters } = readAsPlainText(file);
  if (!isLong({ kind, title, language, content_type, markdown })) return compileAsPlainText(file, plain_reason);
  const parts = split(longTextToMarkdown(text), titleOf(file, title));
  return { kind, title, language, content_type, losses: boundLosses(losses), file_characters, parts };
}

function readFile(file: CompileInput): Extracted {
  return file.document ? checkDocument(file.document) : extract(file);
}

function readAsPlainText(file: CompileInput): Extracted & { text: string } {
  return file.document ? asCodeBlock(checkDocument(file.document)) : extractAsPlainText(file);
}

function titleOf(file: UploadedFile, title: string): string {
  return cleanName(title) === '' ? oneLine(titleFromFilename(file.filename), TITLE_MAX) : title;
}

/**
 * Compiles a file to one page: extract, link, render. Deterministic. `pages` maps files and folders of the upload to
 * the paths of their pages; files other than Markdown also get links to the pages of `names`. Calls `onExtracted` with
 * the length of the Markdown, in UTF-16 units, before it is rendered. Throws an ExtractError if the file cannot be one
 * page.
 */
export function compileFile(
  file: CompileInput,
  pages: ReadonlyMap<string, string>,
  onExtracted: (length: number) => void = () => undefined,
  names: TitleNames = NO_NAMES,
): CompiledFile {
  try {
    return catchOverflow(() => {
      const extracted = checkPage(readFile(file));
      onExtracted(extracted.markdown.length);
      const tree = parseMarkdown(extracted.markdown);
      const { edits, links, references } = relink(extracted.markdown, tree, file, pages);
      const rows =
        extracted.kind === 'csv' ? linkRows(extracted.markdown, tree, file, pages) : { edits: [], links: [] };
      const named = linkNames(extracted, tree, file, names);
      const markdown = editText(extracted.markdown, tree, [...edits, ...rows.edits, ...named.edits]);
      const page_links = linksOf(tree, markdown, file.page_path);
      const wiki = uploadLinkResolver(file, pages);
      const rendered = renderTree(tree, wiki);
      const linked = [...new Set([...links, ...rows.links, ...wiki.filesOf(rendered.wiki_links)])];
      return finished(file, extracted, rendered, {
        markdown,
        links: linked,
        references,
        page_links: withWikiLinks(page_links, rendered.wiki_links),
        named_paths: named.paths,
        plain_reason: '',
      });
    });
  } catch (error) {
    if (error instanceof TooComplexError) return compileAsPlainText(file, 'too_complex');
    throw error;
  }
}

/** Authors of Markdown write their own links; other formats can refer to pages of the wiki only by title. */
function linkNames({ kind, markdown }: Extracted, tree: Root, file: CompileInput, names: TitleNames) {
  if (kind === 'markdown' || names.size === 0) return { edits: [], paths: [] };
  const { page_path, document_path = page_path } = file;
  const linked = linksOf(tree, markdown, page_path).map(({ to_path }) => to_path);
  const room = MARKDOWN_MAX - Buffer.byteLength(markdown);
  return linkTitles(markdown, tree, { page_path, linked: [page_path, document_path, ...linked], room }, names);
}

/** Compiles a file to a page of plain text. Throws an ExtractError if it is not text. */
export function compileAsPlainText(file: CompileInput, plain_reason: PlainReason): CompiledFile {
  const { text, ...read } = readAsPlainText(file);
  const extracted = checkPage(read);
  const rendered = renderPlainText(text);
  return finished(file, extracted, rendered, {
    markdown: extracted.markdown,
    links: [],
    references: [],
    page_links: [],
    named_paths: [],
    plain_reason,
  });
}

/** Converts to plain text, which is one block with all pages of the document. */
function asCodeBlock({ block_pages = [], ...document }: Extracted): Extracted & { text: string } {
  const [first] = block_pages;
  const last_page = Math.max(...block_pages.map((pages) => pages.last_page));
  return { ...document, text: document.markdown, block_pages: first ? [{ ...first, last_page }] : [] };
}

function finished(
  file: CompileInput,
  { kind, title, language, content_type, rest: left_out = '', losses, file_characters, ...places }: Extracted,
  { text_indexed, ...rendered }: Rendered,
  rest: Pick<CompiledFile, 'markdown' | 'links' | 'references' | 'page_links' | 'named_paths' | 'plain_reason'>,
): CompiledFile {
  const source_text = left_out === '' ? rendered.text : `${rendered.text}\n${left_out}`;
  return {
    ...rendered,
    ...rest,
    kind,
    content_type,
    source_text,
    source_indexed: left_out === '' ? text_indexed : indexBody(source_text),
    citations: citeBlocks(rendered, { kind, ...places }, folderOf(file.page_path)),
    // HTML has its title in the head; its first heading often names the site.
    title: titleOf(file, title || titleOfText(file, kind, rendered, rest.markdown)),
    language: rendered.language || language,
    ...completeness(
      { losses, file_characters: kind === 'markdown' ? charactersOf(source_text, losses) : file_characters, kind },
      source_text,
    ),
  };
}

/** Returns the title from the front matter or a heading. A heading may be a banner that all files of a project have. */
function titleOfText(
  { filename }: CompileInput,
  kind: Extracted['kind'],
  { title, outline }: Pick<Rendered, 'title' | 'outline'>,
  markdown: string,
): string {
  // In other formats, other content may precede the title.
  if (kind !== 'markdown') return title || oneLine(outline[0]?.text ?? '', TITLE_MAX);
  if (outline[0]?.text !== title) return title;
  return titleBelowBanner(filename, markdown.replace(FRONT_MATTER, ''), title);
}

/**
 * Counts the characters of a Markdown file as its page's text and its losses, because most characters of the file may
 * be markup.
 */
function charactersOf(source_text: string, losses: readonly Loss[] = []): number {
  return losses.reduce((sum, { characters }) => sum + characters, countCharacters(source_text));
}

/**
 * Returns the losses and the number of characters of a file for storage. Adds a loss for text that is missing from
 * `source_text` and not yet listed.
 */
export function completeness(
  { losses = [], file_characters, kind }: Pick<Extracted, 'losses' | 'file_characters' | 'kind'>,
  source_text: string,
): Pick<CompiledFile, 'losses' | 'file_characters'> {
  const missing = unaccounted(losses, file_characters, source_text, kind);
  return { losses: boundLosses(missing ? [missing, ...losses] : losses), file_characters: file_characters ?? 0 };
}
