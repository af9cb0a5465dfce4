import { AnnotationMode, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs';
import { collectPictures } from '../../document-pictures.ts';
import type { Picture } from '../../extracted.ts';
import type { Loss } from '../../losses.ts';
import { turnBox } from '../page/frames.ts';
import type { PdfPage } from '../page/page.ts';
import { type ImageObject, imagesOfPages } from './image-pages.ts';
import { jpegsIn } from './jpegs.ts';
import { type OmittedPictures, omittedPictures, type WhyOmitted } from './omitted-pictures.ts';
import type { DecodedImage } from './paint-operators.ts';
import { type Painted, paintedImages } from './paint-operators.ts';
import { pictureFile } from './picture-file.ts';
import type { ShownPicture } from './picture-places.ts';

/** The limit of one picture, in pixels: A4 at 400 dpi. Larger pictures are omitted without decoding. */
export const IMAGE_PIXELS = 2 ** 24;

/**
 * The limit of all pictures in a document, in pixels, which take a few seconds to decode; pictures of later pages are
 * omitted.
 */
const DOCUMENT_PIXELS = 200 * 2 ** 20;

/** A page with more pictures shows parts of a drawing, which mean nothing on their own. */
const PAGE_PICTURES = 30;
const DOCUMENT_PICTURES = 1_000;

/** Smaller pictures are ornaments; in pixels, and in points on the page. */
const PIXELS_MIN = 48;
const PIXELS_IN_ALL_MIN = 100 * 100;
const POINTS_MIN = 24;
const AREA_MIN = 40 * 40;

/**
 * A picture is a background if text covers this share of it, or if it covers this share of the page and the page has
 * this many lines.
 */
const COVERED = 0.2;
const WHOLE_PAGE = 0.7;
const LINES = 3;

/**
 * Extracts the meaningful pictures of a PDF with their places: no ornaments, backgrounds, pictures that repeat on many
 * pages, or parts of drawings. Also omits pictures that cannot be decoded or exceed the limits. `omitted` lists all
 * omitted pictures.
 */
export async function extractPictures(
  document: PDFDocumentProxy,
  bytes: Uint8Array,
  pages: readonly PdfPage[],
): Promise<{ pictures: Picture[]; placed: ShownPicture[]; omitted: Loss[] }> {
  const { pictures, add } = collectPictures();
  const jpegOf = jpegsIn(bytes);
  const placed: ShownPicture[] = [];
  const omitted = omittedPictures();
  const images = imagesOfPages(
    bytes,
    pages.map(({ object }) => object),
  );
  const counts = new Map<number, number>();
  for (const { object } of images?.flat() ?? []) counts.set(object, (counts.get(object) ?? 0) + 1);
  let pixels = 0;

  async function takeFrom(proxy: PDFPageProxy, page: PdfPage): Promise<void> {
    const { fnArray, argsArray } = await proxy.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
    const painted = paintedImages(fnArray, argsArray).map((each) => ({
      ...each,
      place: turnBox(each.place, page.angle),
    }));
    pixels += painted.reduce((sum, { width, height }) => sum + width * height, 0);
    const number = proxy.pageNumber;
    // PDF.js silently skips pictures that it cannot decode.
    const names = new Set(painted.map(({ image }) => image));
    const ofPage = images?.[number - 1]?.filter((each) => counts.get(each.object) === 1 && !isTooLarge(each)) ?? [];
    omitted.add('damaged', number, Math.max(0, ofPage.length - names.size));
    const shown = painted.filter((each) => {
      const why = whyOmitted(each, page);
      if (why) omitted.add(why, number);
      return !why;
    });
    if (shown.length > PAGE_PICTURES) {
      omitted.add('part of a drawing', number, shown.length);
      return;
    }
    for (const each of shown) {
      const image = await decodedImage(proxy, each.image);
      const address = image ? add(pictureFile(image, each, proxy.rotate, jpegOf)) : '';
      if (address !== '') placed.push({ address, place: { ...each.place, page: number } });
      else omitted.add(image ? 'beyond the limit of a document' : 'damaged', number);
    }
  }

  for (const number of pagesWithPictures(images, counts, pages.length, omitted)) {
    const page = pages[number - 1];
    if (!page) break;
    if (pixels > DOCUMENT_PIXELS || placed.length >= DOCUMENT_PICTURES) {
      omitted.add('beyond the limit of a document', number, images?.[number - 1]?.filter(isWanted).length);
      continue;
    }
    try {
      const proxy = await document.getPage(number);
      await takeFrom(proxy, page);
      proxy.cleanup();
    } catch {
      // Keep the text of the page if its pictures fail.
      omitted.add('damaged', number);
    }
  }
  return { ...removeRepeatedPictures(pictures, placed, pages.length, omitted), omitted: omitted.losses() };
}

/**
 * Returns the numbers, from 1, of pages that may show meaningful pictures; pictures of other pages are listed as
 * omitted.
 */
function pagesWithPictures(
  images: ImageObject[][] | undefined,
  counts: ReadonlyMap<number, number>,
  pages: number,
  omitted: OmittedPictures,
): number[] {
  const seen = new Set<number>();
  return Array.from({ length: pages }, (_, i) => i + 1).filter((number) => {
    if (!images) return true;
    const own = images[number - 1] ?? [];
    const fresh = own.filter(({ object }) => !seen.has(object));
    for (const { object } of fresh) seen.add(object);
    omitted.add('too large', number, fresh.filter(isTooLarge).length);
    const wanted = own.filter(isWanted);
    // Pictures shared between pages are not evidence about a single page.
    const isDrawing = wanted.filter(({ object }) => counts.get(object) === 1).length > PAGE_PICTURES;
    if (isDrawing) omitted.add('part of a drawing', number, fresh.filter(isWanted).length);
    const isVisited = wanted.length > 0 && !isDrawing;
    // Pictures referenced by a skipped page are probably shown on it.
    if (!isVisited) omitted.add('small', number, fresh.filter((each) => !isWanted(each) && !isTooLarge(each)).length);
    return isVisited;
  });
}

/** Whether the size is within the limits; an unknown size is. */
function isWanted(image: ImageObject): boolean {
  return !isTooSmall(image.width, image.height) && !isTooLarge(image);
}

function isTooLarge({ width, height }: ImageObject): boolean {
  return width * height > IMAGE_PIXELS;
}

function isTooSmall(width: number, height: number): boolean {
  return Math.min(width, height) < PIXELS_MIN || width * height < PIXELS_IN_ALL_MIN;
}

/**
 * Returns the reason to omit a picture as an ornament or a background of text, such as a box or a scanned page;
 * undefined for a picture to show.
 */
function whyOmitted({ width, height, place }: Painted, { lines, box }: PdfPage): WhyOmitted | undefined {
  const { x: left, bottom, right, top } = box;
  const [wide, high] = [place.right - place.x, place.top - place.bottom];
  if (isTooSmall(width, height) || Math.min(wide, high) < POINTS_MIN || wide * high < AREA_MIN) return 'small';
  const [x, y] = [(place.x + place.right) / 2, (place.top + place.bottom) / 2];
  if (x < left || x > right || y < bottom || y > top) return 'outside of the page';
  if (lines.length >= LINES && wide * high > WHOLE_PAGE * (right - left) * (top - bottom)) return 'behind text';
  const inside = lines.filter(
    (line) => line.y > place.bottom && line.y < place.top && line.x > place.x && line.right < place.right,
  );
  const covered = inside.reduce((sum, line) => sum + (line.right - line.x) * line.size, 0);
  return covered < COVERED * wide * high ? undefined : 'behind text';
}

/** Returns the picture that an operator paints; undefined if PDF.js could not decode it. */
async function decodedImage(page: PDFPageProxy, image: Painted['image']): Promise<DecodedImage | undefined> {
  if (typeof image !== 'string') return image;
  const objects = image.startsWith('g_') ? page.commonObjs : page.objs;
  const found = await new Promise<DecodedImage | null>((resolve) => objects.get(image, resolve));
  return found?.data ? found : undefined;
}

/** Removes pictures that repeat on many pages, such as logos and backgrounds. */
function removeRepeatedPictures(
  pictures: readonly Picture[],
  placed: readonly ShownPicture[],
  pages: number,
  omitted: OmittedPictures,
): { pictures: Picture[]; placed: ShownPicture[] } {
  const pagesOf = new Map<string, Set<number>>();
  for (const { address, place } of placed) pagesOf.set(address, (pagesOf.get(address) ?? new Set()).add(place.page));
  const isFrequent = (address: string) => (pagesOf.get(address)?.size ?? 0) >= Math.max(3, pages / 3);
  const shown = placed.filter(({ address }) => !isFrequent(address));
  for (const { address, place } of placed) if (isFrequent(address)) omitted.add('on many pages', place.page);
  const addresses = new Set(shown.map(({ address }) => address));
  return { placed: shown, pictures: pictures.filter(({ name }) => addresses.has(`attachment:${name}`)) };
}
