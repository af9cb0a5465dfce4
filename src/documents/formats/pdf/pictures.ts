import { AnnotationMode, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs';
import { collectPictures } from '../document-pictures.ts';
import type { Picture } from '../extracted.ts';
import { turnBox } from './frames.ts';
import { imagePages } from './image-pages.ts';
import { jpegsIn } from './jpegs.ts';
import type { PdfPage } from './page.ts';
import type { DecodedImage } from './paint-operators.ts';
import { type Painted, paintedImages } from './paint-operators.ts';
import { pictureFile } from './picture-file.ts';
import type { ShownPicture } from './picture-places.ts';

/** The limit of one picture: a page of A4 at 400 dpi. Larger ones are omitted without decoding. */
export const IMAGE_PIXELS = 2 ** 24;

/** The limit of all pictures of a document, which take a few seconds to decode; pictures of later pages are omitted. */
const DOCUMENT_PIXELS = 200 * 2 ** 20;

/** Pages with more pictures contain parts of a drawing, none of which is meaningful alone. */
const PAGE_PICTURES = 30;
const DOCUMENT_PICTURES = 1_000;

/** Smaller pictures are ornaments: in pixels, and in points on the page. */
const PIXELS_MIN = 48;
const PIXELS_IN_ALL_MIN = 100 * 100;
const POINTS_MIN = 24;
const AREA_MIN = 40 * 40;

/** A picture is a background if text covers this share of it, or if it fills the page and there are this many lines. */
const COVERED = 0.2;
const WHOLE_PAGE = 0.7;
const LINES = 3;

/**
 * The meaningful pictures of a PDF and their places: no ornaments, backgrounds, pictures that repeat on many pages, or
 * parts of drawings. Pictures that cannot be decoded or exceed the limits are omitted.
 */
export async function extractPictures(
  document: PDFDocumentProxy,
  bytes: Uint8Array,
  pages: readonly PdfPage[],
): Promise<{ pictures: Picture[]; placed: ShownPicture[] }> {
  const { pictures, add } = collectPictures();
  const jpegOf = jpegsIn(bytes);
  const placed: ShownPicture[] = [];
  let pixels = 0;

  async function takeFrom(proxy: PDFPageProxy, page: PdfPage): Promise<void> {
    const { fnArray, argsArray } = await proxy.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
    const painted = paintedImages(fnArray, argsArray).map((each) => ({
      ...each,
      place: turnBox(each.place, page.angle),
    }));
    pixels += painted.reduce((sum, { width, height }) => sum + width * height, 0);
    const shown = painted.filter((each) => isPicture(each, page));
    if (shown.length > PAGE_PICTURES) return;
    for (const each of shown) {
      const image = await decodedImage(proxy, each.image);
      const address = image ? add(pictureFile(image, each, proxy.rotate, jpegOf)) : '';
      if (address !== '') placed.push({ address, place: { ...each.place, page: proxy.pageNumber } });
    }
  }

  for (const number of pagesWithPictures(bytes, pages)) {
    const page = pages[number - 1];
    if (!page || pixels > DOCUMENT_PIXELS || placed.length >= DOCUMENT_PICTURES) break;
    try {
      const proxy = await document.getPage(number);
      await takeFrom(proxy, page);
      proxy.cleanup();
    } catch {
      // The text of the page is kept if its pictures fail.
    }
  }
  return removeRepeatedPictures(pictures, placed, pages.length);
}

/** The numbers of the pages, counted from 1, that may show meaningful pictures. */
function pagesWithPictures(bytes: Uint8Array, pages: readonly PdfPage[]): number[] {
  const objects = pages.map(({ object }) => object);
  const withImages = imagePages(bytes, objects, {
    // Unknown sizes count as wanted.
    isWanted: (width, height) => !isTooSmall(width, height) && !(width * height > IMAGE_PIXELS),
    most: PAGE_PICTURES,
  });
  return objects.flatMap((object, i) => (withImages.has(object) ? [i + 1] : []));
}

function isTooSmall(width: number, height: number): boolean {
  return Math.min(width, height) < PIXELS_MIN || width * height < PIXELS_IN_ALL_MIN;
}

/** Whether it is meaningful to a reader: not an ornament, nor a background of text such as a box or a scanned page. */
function isPicture({ width, height, place }: Painted, { lines, box }: PdfPage): boolean {
  const { x: left, bottom, right, top } = box;
  const [wide, high] = [place.right - place.x, place.top - place.bottom];
  if (isTooSmall(width, height) || Math.min(wide, high) < POINTS_MIN || wide * high < AREA_MIN) return false;
  const [x, y] = [(place.x + place.right) / 2, (place.top + place.bottom) / 2];
  if (x < left || x > right || y < bottom || y > top) return false;
  if (lines.length >= LINES && wide * high > WHOLE_PAGE * (right - left) * (top - bottom)) return false;
  const inside = lines.filter(
    (line) => line.y > place.bottom && line.y < place.top && line.x > place.x && line.right < place.right,
  );
  const covered = inside.reduce((sum, line) => sum + (line.right - line.x) * line.size, 0);
  return covered < COVERED * wide * high;
}

/** The picture that an operator paints; undefined if the library could not decode it. */
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
): { pictures: Picture[]; placed: ShownPicture[] } {
  const pagesOf = new Map<string, Set<number>>();
  for (const { address, place } of placed) pagesOf.set(address, (pagesOf.get(address) ?? new Set()).add(place.page));
  const isFrequent = (address: string) => (pagesOf.get(address)?.size ?? 0) >= Math.max(3, pages / 3);
  const shown = placed.filter(({ address }) => !isFrequent(address));
  const addresses = new Set(shown.map(({ address }) => address));
  return { placed: shown, pictures: pictures.filter(({ name }) => addresses.has(`attachment:${name}`)) };
}
