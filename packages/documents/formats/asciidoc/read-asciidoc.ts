import { type Document, Extensions, IncludeProcessor, LoggerManager, load, NullLogger } from '@asciidoctor/core';
import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import { decodeText } from '../decode.ts';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '../extracted.ts';
import { htmlToMarkdown } from '../html/html.ts';
import { type LossList, lossList } from '../loss-list.ts';
import { PageConverter } from './page-converter.ts';

/** The limit of a file in bytes: Asciidoctor takes a second and 100 MB of memory for 100 KB. */
const FILE_MAX = 2 ** 20;

// Discard Asciidoctor's warnings: they are about the text of the user.
LoggerManager.logger = new NullLogger();

/**
 * Reads an AsciiDoc document with Asciidoctor in its most restricted mode, which opens no files. Includes become links
 * if they name a document. Includes, comments, authors and revision are listed as losses. Throws an ExtractError.
 */
export async function readAsciiDoc({ bytes, content_type }: UploadedFile): Promise<ExtractedDocument> {
  if (bytes.length > FILE_MAX) {
    const message = `the AsciiDoc document is larger than ${FILE_MAX / 2 ** 20} MiB; split it into several files`;
    throw new ExtractError('too_large', message);
  }
  const text = decodeText(bytes, content_type);
  const losses = lossList();
  listComments(text, losses);
  const { document, html } = await converted(text, losses);
  listHead(document, losses);
  const { pictures, add } = collectPictures();
  const page = toMarkdown(html, add);
  losses.losses.push(...page.losses);
  return {
    kind: 'asciidoc',
    markdown: page.markdown,
    title: oneLine(plain(document.getDocumentTitle()), TITLE_MAX),
    language: plain(document.getAttribute('lang')).slice(0, 35),
    content_type: 'text/asciidoc',
    pictures,
    losses: losses.losses,
    file_characters: page.file_characters,
  };
}

async function converted(text: string, losses: LossList): Promise<{ document: Document; html: string }> {
  const registry = Extensions.create();
  registry.includeProcessor(includeProcessor(losses));
  const attributes = { showtitle: '', relfilesuffix: '.adoc', 'toc!': '', 'icons!': '', 'sectanchors!': '' };
  try {
    const document = await load(text, {
      safe: 'secure',
      standalone: false,
      converter: PageConverter,
      extension_registry: registry,
      attributes,
    });
    return { document, html: String(await document.convert()) };
  } catch {
    // Asciidoctor's errors describe its internal state, so their messages are not for users.
    throw new ExtractError(
      'unreadable',
      'the AsciiDoc document cannot be read; simplify it, or upload it as HTML or PDF',
    );
  }
}

/** Replaces an include of a document by a link, because each document becomes a page; any other include by its name. */
function includeProcessor(losses: LossList): IncludeProcessor {
  const processor = new IncludeProcessor();
  processor.handles = () => true;
  processor.process = (_document, reader, target, attributes) => {
    losses.addThing('embedded_object', `include::${target}`);
    const isDocument = /\.(?:adoc|asciidoc|asc)$/i.test(target) && !target.includes('++');
    reader.pushInclude(
      isDocument ? `link:++${target}++[${target}]` : `include: ${target}`,
      target,
      target,
      1,
      attributes,
    );
  };
  return processor;
}

/** Lists comments as losses: lines that begin with two slashes, and blocks between lines of four or more slashes. */
function listComments(text: string, losses: LossList): void {
  let fence = '';
  for (const line of text.split('\n')) {
    const [marks] = /^\/{4,}(?=[ \t]*$)/.exec(line) ?? [];
    if (marks !== undefined && (fence === '' || fence === marks)) fence = fence === '' ? marks : '';
    else if (fence !== '') losses.sum('comment', line, 0);
    else if (/^\/\/(?!\/)/.test(line)) losses.sum('comment', line.slice(2));
  }
}

/** Lists the authors and the revision as a loss; they are not part of the text. */
function listHead(document: Document, losses: LossList): void {
  const said = ['authors', 'email', 'revnumber', 'revdate', 'revremark'].map((name) =>
    plain(document.getAttribute(name)),
  );
  const head = said.filter((value) => value !== '').join(', ');
  if (head !== '') losses.addThing('metadata', head);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value.replace(/<[^<>]*>/g, '') : '';
}

/** The rule above the footnotes, and the numbered back link of each footnote, which are not part of the text. */
const FOOTNOTE_MARKS = /(?<=<div id="footnotes">\s*)<hr>|<a href="#_footnoteref_(\d+)">\1<\/a>\. /g;

/** A link to a heading of another document, with the id that Asciidoctor derives from the heading's words. */
const OTHER_HEADING = /(?<=<a href="[^"#]{1,500}\.(?:adoc|asciidoc|asc)#)_([^"]{1,200})(?=")/g;

function toMarkdown(html: string, addPicture: (bytes: Buffer) => string): ReturnType<typeof htmlToMarkdown> {
  try {
    const text = html
      .replace(FOOTNOTE_MARKS, '')
      .replace(OTHER_HEADING, (_, words: string) => words.replaceAll('_', '-'));
    return htmlToMarkdown(`<body>${text}</body>`, { isData: true, addPicture });
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    throw new ExtractError('unreadable', 'the AsciiDoc document is nested too deep; simplify it and upload it again');
  }
}
