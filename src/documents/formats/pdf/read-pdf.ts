import { getDocument, type PDFDocumentProxy } from 'unpdf/pdfjs';
import type { ExtractedDocument } from '../extract.ts';
import { ExtractError } from '../extract-error.ts';
import { blocksOf, removeHeadersAndFooters } from './flow.ts';
import { holdsImages } from './image-pages.ts';
import { writeBlocks } from './markdown.ts';
import { type PdfPage, readPage } from './page.ts';
import { insertPictures } from './picture-places.ts';
import { extractPictures, IMAGE_PIXELS } from './pictures.ts';

/** The page limit: a book of this length takes half a minute. */
const PAGES_MAX = 2_000;

/**
 * Reads a PDF in reading order: headings by font size, paragraphs joined from lines, lists, simple tables and links to
 * the web, without headers and footers. `block_pages` has the pages of each block. `readPictures` returns the same with
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
  const all: PdfPage[] = [];
  let broken = 0;
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      all.push(await readPage(await document.getPage(number)));
    } catch {
      // Pages that cannot be read are skipped; a document without any readable page is refused below.
      broken += 1;
      all.push({ object: 0, height: 0, bottom: 0, lines: [] });
    }
  }
  const pages = removeHeadersAndFooters(all);
  const blocks = blocksOf(pages);
  const written = writeBlocks(blocks);
  if (written.markdown.trim() === '') {
    throw broken > 0
      ? unreadable()
      : new ExtractError(
          'empty_file',
          'the PDF holds no text (it may be a scan); run text recognition (OCR) over it and upload it again',
        );
  }
  const read = { kind: 'pdf', ...written, title: '', language: '', content_type: 'application/pdf' } as const;
  if (!holdsImages(bytes)) return read;
  return {
    ...read,
    async readPictures() {
      const { pictures, placed } = await extractPictures(document, bytes, pages);
      return placed.length === 0 ? read : { ...read, ...writeBlocks(insertPictures(blocks, placed)), pictures };
    },
  };
}

async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await getDocument({
      // The library takes ownership of the bytes.
      data: new Uint8Array(bytes),
      // The library must not load system fonts, files or addresses.
      useSystemFonts: false,
      disableFontFace: true,
      useWorkerFetch: false,
      enableXfa: false,
      maxImageSize: IMAGE_PIXELS,
      verbosity: 0,
    }).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') {
      throw new ExtractError(
        'unreadable',
        'the PDF is protected by a password; save it without one and upload it again',
      );
    }
    throw unreadable();
  }
}

function unreadable(): ExtractError {
  return new ExtractError('unreadable', 'the PDF is damaged and cannot be read; save it again and upload it again');
}
