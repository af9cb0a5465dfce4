import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument } from '../extracted.ts';
import type { Loss } from '../losses.ts';
import { withCode } from './code-fonts.ts';
import { blocksOf } from './flow.ts';
import { withTargets } from './link-targets.ts';
import { writeBlocks } from './markdown.ts';
import { withDrawnMarks } from './marks/drawn-marks.ts';
import { drawnShapes } from './marks/drawn-shapes.ts';
import { pageContent } from './marks/page-content.ts';
import { withSeparateTexts } from './marks/separate-texts.ts';
import { textStarts } from './marks/text-starts.ts';
import { linkNotes } from './notes.ts';
import { openPdf, unreadable } from './open-pdf.ts';
import { readOutline, type Target, targetOf } from './outline.ts';
import { collectDestinations, type Destinations } from './page/annotations.ts';
import { ligatureRestorer } from './page/lost-ligatures.ts';
import { lossOn, type PdfPage, readPage, unreadPage } from './page/page.ts';
import { unreadableFonts } from './page/readable-fonts.ts';
import type { PdfBlock } from './pdf-block.ts';
import { joinCaptions } from './pictures/captions.ts';
import { holdsImages, imagesOfPages } from './pictures/image-pages.ts';
import { insertPictures } from './pictures/picture-places.ts';
import { extractPictures } from './pictures/pictures.ts';
import { removeRepeatedLines } from './repeated-lines.ts';
import { drawnTables, mayHaveRuledTable, withRuledTables } from './ruled-tables.ts';
import { shownBoxes } from './shown-boxes.ts';

/** The page limit: reading a book of this length takes half a minute. */
const PAGES_MAX = 2_000;

/** Some programs write data after the end mark, so search this many bytes. */
const END_BYTES = 4_096;

/**
 * Reads a PDF in reading order: headings by font size, paragraphs joined from lines, lists, simple tables, values of
 * forms. Links to the web, within the document and from note marks to notes are kept; headers and footers are removed.
 * `losses` lists omitted content. `block_pages` has the pages and rectangles of each block. `readMore` returns the same
 * with the pictures between the blocks, and tables split by their ruled lines. Throws an ExtractError if the PDF is
 * protected, damaged or without text.
 */
export async function readPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  const document = await openPdf(bytes);
  if (document.numPages > PAGES_MAX) {
    throw new ExtractError(
      'too_large',
      `the PDF has more than ${PAGES_MAX.toLocaleString('en')} pages; split it and upload its parts`,
    );
  }
  const { pages: read, destinations } = await readPages(document);
  const all = withSeparateTexts(({ object }) => textStarts(pageContent(bytes, object)))(read);
  const targets = await targetsOf(document, destinations);
  const outline = await readOutline(document);
  const shapesOf = drawnShapes(bytes);
  const withMarks = withDrawnMarks(shapesOf);
  const compose = (from: readonly PdfPage[]): Composed => {
    const { pages: kept, losses: repeated } = removeRepeatedLines(from);
    const pages = withCode(withMarks(kept));
    const losses = [...lossesOf(from, bytes), ...repeated];
    if (isCutOff(bytes))
      losses.push(lossOn(pages.length, { kind: 'damaged_part', place: 'the end of the file is missing' }));
    const blocks = withTargets(blocksOf(pages, outline, losses), pages, targets);
    return { pages, blocks: linkNotes(blocks, destinations.byAddress.size), losses };
  };
  const file_characters = all.reduce((sum, { characters }) => sum + characters, 0);
  const about = { kind: 'pdf', title: '', language: '', content_type: 'application/pdf' } as const;
  const finished = ({ pages, blocks, losses }: Composed) => {
    const written = writeBlocks(blocks, shownBoxes(pages));
    if (written.markdown.trim() === '') throw withoutText(losses);
    return { ...about, ...written, losses, file_characters };
  };
  const first = compose(all);
  const finishedFirst = finished(first);
  const drawn = drawnTables(shapesOf);
  const isTabular = all.some((page) => mayHaveRuledTable(page, drawn));
  if (!holdsImages(bytes) && !isTabular) return finishedFirst;
  return {
    ...finishedFirst,
    async readMore() {
      const ruled = isTabular ? await withRuledTables(document, bytes, all, drawn) : all;
      const composed = ruled.some((page, i) => page !== all[i]) ? compose(ruled) : first;
      if (!holdsImages(bytes)) return finished(composed);
      const { pictures, placed, omitted } = await extractPictures(document, bytes, composed.pages);
      const losses = [...composed.losses, ...omitted];
      return {
        ...finished({ ...composed, blocks: joinCaptions(insertPictures(composed.blocks, placed)), losses }),
        pictures,
      };
    },
  };
}

/** The pages without repeated lines, their blocks, and the losses. */
interface Composed {
  pages: PdfPage[];
  blocks: PdfBlock[];
  losses: Loss[];
}

async function readPages(document: PDFDocumentProxy) {
  const { Marked: isTagged = false } = ((await document.getMarkInfo().catch(() => null)) ?? {}) as { Marked?: boolean };
  const destinations = collectDestinations();
  const options = {
    unreadableOn: unreadableFonts(),
    restoreLigatures: await ligatureRestorer(document),
    isTagged,
    destinations,
  };
  const pages: PdfPage[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number).catch(() => undefined);
    // Show the readable pages of a damaged document, and list the other pages as losses.
    const read = page?.ref ? await readPage(page, options).catch(() => undefined) : undefined;
    pages.push(read ?? unreadPage(number));
    // PDF.js stops at the first page that it cannot find, and returns an empty page without `ref` in place of a missing
    // page 1.
    if (!page?.ref && number === document.numPages)
      pages.at(-1)?.losses.push(lossOn(number, { kind: 'damaged_part', place: 'following pages, if any' }));
  }
  return { pages, destinations };
}

/** Maps the addresses of links within the document to their targets. */
async function targetsOf(document: PDFDocumentProxy, { byAddress }: Destinations): Promise<Map<string, Target>> {
  const targets = new Map<string, Target>();
  for (const [address, destination] of byAddress) {
    const target = await targetOf(document, destination);
    if (target) targets.set(address, target);
  }
  return targets;
}

/** Collects the losses of pages in order. A page that shows a picture but has no text is a loss itself. */
function lossesOf(pages: readonly PdfPage[], bytes: Uint8Array): Loss[] {
  const isEmpty = ({ losses, characters }: PdfPage) => characters === 0 && losses.length === 0;
  const empty = pages.filter(isEmpty).map(({ object }) => object);
  const images = imagesOfPages(bytes, empty);
  const shown = new Set(empty.filter((_, i) => !images || (images[i]?.length ?? 0) > 0));
  return pages.flatMap((page, i) =>
    isEmpty(page) && shown.has(page.object) ? [lossOn(i + 1, { kind: 'page_without_text' })] : page.losses,
  );
}

/**
 * Whether the end of a PDF is missing, in which case its remains are read. A PDF for the web has an end mark near its
 * beginning too, but declares its length.
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
      'the fonts of the PDF do not map to characters; run text recognition (OCR) over it and upload it again',
    );
  }
  return new ExtractError(
    'empty_file',
    'the PDF contains no text (it may be a scan); run text recognition (OCR) over it and upload it again',
  );
}
