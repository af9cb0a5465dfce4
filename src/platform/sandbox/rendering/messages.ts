import type { CompiledFile, SplitFile } from '@ibid/documents/compile-file.ts';
import type { CompileInput } from '@ibid/documents/compile-input.ts';
import type { KnownTitle } from '@ibid/documents/links/title-names.ts';
import type { PlainReason } from '@ibid/markdown/plain-text.ts';
import type { PageInput, RenderedPage } from '@ibid/markdown/render.ts';
import type { Body } from '../confined-process.ts';
import { type Frame, frameOf } from '../frames.ts';
import { textReader, textTable } from '../text-table.ts';
import type { Response } from './responses.ts';

/** Files and titles that the files of an upload can link to. */
export interface Surroundings {
  pages: ReadonlyMap<string, string>;
  titles: readonly KnownTitle[];
}

/** A page to render, or a file to compile. With `isOnePage` a file becomes one page, however long it is. */
export type Work = { page: PageInput } | { file: CompileInput; isOnePage: boolean; surroundings: Surroundings };

/** Why to show the text as plain text; "" to render or compile it. */
type Plain = Exclude<PlainReason, 'too_complex'>;

interface RequestHeader {
  plain: Plain;
  sizes: number[];
  page?: Omit<PageInput, 'markdown' | 'pagesByTarget'> & { markdown: number; pagesByTarget: [string, string][] };
  file?: Omit<CompileInput, 'bytes' | 'document' | 'fragments'> & {
    document?: Omit<NonNullable<CompileInput['document']>, 'markdown' | 'pictures'> & { markdown: number };
    fragments?: [string, string][];
  };
  isOnePage?: boolean;
  /** Sent only if they have changed since the last request. */
  pages?: [string, string][];
  titles?: readonly KnownTitle[];
}

/** Builds the request for `work`. `known`: the surroundings that were last sent to the process. */
export function requestOf(work: Work, plain: Plain, known: Surroundings | undefined): { header: object; body: Body } {
  const texts = textTable();
  const header: RequestHeader = { plain, sizes: [] };
  let bytes: Uint8Array = NO_BYTES;
  if ('page' in work) {
    const { markdown, pagesByTarget, ...page } = work.page;
    header.page = { ...page, markdown: texts.add(markdown), pagesByTarget: [...pagesByTarget] };
  } else {
    const { bytes: content, document, fragments, ...file } = work.file;
    bytes = content;
    header.isOnePage = work.isOnePage;
    header.file = { ...file, ...(fragments && { fragments: [...fragments] }) };
    if (document) {
      const { markdown, pictures, ...rest } = document;
      header.file.document = { ...rest, markdown: texts.add(markdown) };
    }
    const { pages, titles } = work.surroundings;
    if (known?.pages !== pages) header.pages = [...pages];
    if (known?.titles !== titles) header.titles = titles;
  }
  header.sizes = texts.sizes();
  const chunks = [...texts.parts, bytes];
  return { header, body: { byte_size: chunks.reduce((sum, { length }) => sum + length, 0), chunks } };
}

const NO_BYTES = new Uint8Array();

/** A request as the process reads it. If `pages` or `titles` is undefined, the value of the last request applies. */
export interface ReceivedRequest {
  plain: Plain;
  page?: PageInput;
  file?: CompileInput;
  isOnePage: boolean;
  pages: ReadonlyMap<string, string> | undefined;
  titles: readonly KnownTitle[] | undefined;
}

/** Parses a request of `requestOf`. */
export function readRequest({ header, body }: Frame): ReceivedRequest {
  const { plain, sizes, page, file, isOnePage = false, pages, titles } = header as RequestHeader;
  const length = sizes.reduce((sum, size) => sum + size, 0);
  const text = textReader(sizes, body.subarray(0, length));
  return {
    plain,
    isOnePage,
    pages: pages && new Map(pages),
    titles,
    ...(page && { page: { ...page, markdown: text(page.markdown), pagesByTarget: new Map(page.pagesByTarget) } }),
    ...(file && { file: readFile(file, body.subarray(length), text) }),
  };
}

function readFile(
  { document, fragments, ...file }: NonNullable<RequestHeader['file']>,
  bytes: Uint8Array,
  text: (number: number) => string,
): CompileInput {
  return {
    ...file,
    bytes,
    ...(document && { document: { ...document, markdown: text(document.markdown) } }),
    ...(fragments && { fragments: new Map(fragments) }),
  };
}

export function progressFrame(length: number): Buffer {
  return frameOf({ is: 'progress', length } satisfies Response);
}

export function refusalFrame({ code, message }: { code: string; message: string }): Buffer {
  return frameOf({ is: 'refusal', code, message } satisfies Response);
}

export function errorFrame({ name, message, stack = '' }: Error): Buffer {
  return frameOf({ is: 'error', name, message, stack } satisfies Response);
}

export function pageFrame(page: RenderedPage): Buffer {
  const texts = textTable();
  const sent = { ...page, ...sentRendered(page, texts) };
  return frameOf({ is: 'page', sizes: texts.sizes(), page: sent } satisfies Response, texts.parts);
}

export function fileFrame({ blocks, wiki_links, ...file }: CompiledFile): Buffer {
  const texts = textTable();
  const { markdown, source_text, source_indexed, citations } = file;
  const sent = {
    ...file,
    ...sentRendered(file, texts),
    markdown: texts.add(markdown),
    source_text: texts.add(source_text),
    source_indexed: sentIndexed(source_indexed, texts),
    citations: {
      ...citations,
      hashes: texts.add(citations.hashes),
      form_hashes: texts.add(citations.form_hashes),
      contexts: texts.add(citations.contexts),
    },
  };
  return frameOf({ is: 'file', sizes: texts.sizes(), file: sent } satisfies Response, texts.parts);
}

export function partsFrame({ parts, ...split }: SplitFile): Buffer {
  const texts = textTable();
  const sent = parts.map((part) => ({
    ...part,
    markdown: texts.add(part.markdown),
    block_pages: [...part.block_pages],
  }));
  return frameOf(
    { is: 'parts', sizes: texts.sizes(), split: { ...split, parts: sent } } satisfies Response,
    texts.parts,
  );
}

function sentRendered(
  { html, text, indexed }: Pick<RenderedPage, 'html' | 'text' | 'indexed'>,
  texts: ReturnType<typeof textTable>,
) {
  return { html: texts.add(html), text: texts.add(text), indexed: sentIndexed(indexed, texts) };
}

function sentIndexed({ terms, vocabulary }: RenderedPage['indexed'], texts: ReturnType<typeof textTable>) {
  return { terms: texts.add(terms), vocabulary: texts.add(vocabulary) };
}
