import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument } from '../extracted.ts';
import type { Loss } from '../losses.ts';
import { blocksOf } from './flow.ts';
import { holdsImages, imagePages } from './image-pages.ts';
import { writeBlocks } from './markdown.ts';
import { openPdf, unreadable } from './open-pdf.ts';
import { readOutline } from './outline.ts';
import { lossOn, type PdfPage, readPage, unreadPage } from './page.ts';
import { insertPictures } from './picture-places.ts';
import { extractPictures } from './pictures.ts';
import { unreadableFonts } from './readable-fonts.ts';
import { removeRepeatedLines } from './repeated-lines.ts';

/** The page limit: a book of this length takes half a minute. */
const PAGES_MAX = 2_000;

/** Some programs write after the mark of the end. */
const END_BYTES = 4_096;

/**
 * Reads a PDF in reading order: headings by font size, paragraphs joined from lines, lists, simple tables and links to
 * the web, values of forms, without headers and footers. `losses` says what is left out. `block_pages` has the pages of each block. `readPictures` returns the same with
 * the pictures between the blocks. Throws an ExtractError if it is protected, damaged or without text.
 */
export async function readPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  const document = await openPdf(bytes);
  if (document.numPages > PAGES_MAX) {
    throw new ExtractError(
      'too_large',
      `the PDF has more than ${PAGES_MAX.toLocaleString('en')} pages; split it, and upload its parts`,
    );
  }
  const all = await readPages(document);
  const { pages, losses: repeated } = removeRepeatedLines(all);
  const blocks = blocksOf(pages, await readOutline(document));
  const written = writeBlocks(blocks);
  const losses = [...lossesOf(all, bytes), ...repeated];
  if (isCutOff(bytes))
    losses.push(lossOn(pages.length, { kind: 'damaged_part', place: 'the end of the file is missing' }));
  if (written.markdown.trim() === '') throw withoutText(losses);
  const file_characters = all.reduce((sum, { characters }) => sum + characters, 0);
  const about = { kind: 'pdf', title: '', language: '', content_type: 'application/pdf' } as const;
  const read = { ...about, ...written, losses, file_characters };
  if (!holdsImages(bytes)) return read;
  return {
    ...read,
    async readPictures() {
      const { pictures, placed } = await extractPictures(document, bytes, pages);
      return placed.length === 0 ? read : { ...read, ...writeBlocks(insertPictures(blocks, placed)), pictures };
    },
  };
}

async function readPages(document: PDFDocumentProxy): Promise<PdfPage[]> {
  const { Marked: isTagged = false } = ((await document.getMarkInfo().catch(() => null)) ?? {}) as { Marked?: boolean };
  const options = { unreadableOn: unreadableFonts(), isTagged };
  const pages: PdfPage[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      pages.push(await readPage(await document.getPage(number), options));
    } catch {
      // What can be read of a damaged document is shown, and the source lists the rest.
      pages.push(unreadPage(number));
    }
  }
  return pages;
}

/** What pages lack by themselves, in their order; one that shows a picture and no text lacks that. */
function lossesOf(pages: readonly PdfPage[], bytes: Uint8Array): Loss[] {
  const isEmpty = ({ losses, characters }: PdfPage) => characters === 0 && losses.length === 0;
  const empty = pages.filter(isEmpty).map(({ object }) => object);
  const shown = imagePages(bytes, empty, { isWanted: () => true, most: Number.POSITIVE_INFINITY });
  return pages.flatMap((page, i) =>
    isEmpty(page) && shown.has(page.object) ? [lossOn(i + 1, { kind: 'page_without_text' })] : page.losses,
  );
}

/**
 * Whether the end of a PDF is missing: what can be found of it is read. One that is made for the web has a mark of its end
 * near its beginning, and says how long it is.
 */
function isCutOff(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [, length = '0'] = /\/Linearized\b[^>]*\/L\s+(\d+)/.exec(file.toString('latin1', 0, 1_024)) ?? [];
  return Number(length) > file.length || !file.includes('%%EOF', -END_BYTES);
}

function withoutText(losses: readonly Loss[]): ExtractError {
  if (losses.some(({ kind }) => ['page_unreadable', 'damaged_part'].includes(kind))) return unreadable();
  if (losses.some(({ kind }) => kind === 'unreadable_text')) {
    return new ExtractError(
      'empty_file',
      'the fonts of the PDF do not say which characters they show; run text recognition (OCR) over it and upload it again',
    );
  }
  return new ExtractError(
    'empty_file',
    'the PDF holds no text (it may be a scan); run text recognition (OCR) over it and upload it again',
  );
}
