import { fileObjects } from '../marks/file-objects.ts';

const IMAGE = /\/Subtype\s*\/Image\b/;

/** Entries of a page that refer to other pages, or to pictures that are not painted on it. */
const UNPAINTED_ENTRIES = /\/(?:Kids|Annots|B|Thumb|Dests?|Metadata)\s*(?:\[[^\]]*\]|\d+\s+\d+\s+R\b)/g;
const PAGE = /\/Type\s*\/Page\b/;
const REFERENCE = /\b(\d+)\s+\d+\s+R\b/g;

/** A picture object; sizes in pixels, NaN if unknown. */
export interface ImageObject {
  object: number;
  width: number;
  height: number;
}

/**
 * Finds the pictures that pages (by object number) may show, by following references. PDF.js could only find them by
 * processing the whole page, which takes as long as reading its text. Undefined if the objects cannot be parsed, for
 * example in an encrypted PDF.
 */
export function imagesOfPages(bytes: Uint8Array, pages: readonly number[]): ImageObject[][] | undefined {
  const objects = fileObjects(bytes)?.texts;
  if (!objects) return undefined;
  const images = new Map<number, ImageObject>();
  for (const [object, text] of objects) {
    if (IMAGE.test(text)) images.set(object, { object, width: entry(text, 'Width'), height: entry(text, 'Height') });
  }
  const withoutImages = new Set<number>();
  return pages.map((page) => imagesFrom(page, objects, images, withoutImages));
}

/** Whether a PDF contains picture objects; inline images do not count. */
export function holdsImages(bytes: Uint8Array): boolean {
  const file = bufferOf(bytes);
  for (let at = file.indexOf('/Image'); at >= 0; at = file.indexOf('/Image', at + 1)) {
    if (IMAGE.test(file.toString('latin1', Math.max(0, at - 32), at + 7))) return true;
  }
  return false;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns a number in a dictionary; NaN if it is missing or an indirect reference. */
function entry(dictionary: string, name: string): number {
  const [, number] = new RegExp(`/${name}\\s+(\\d+)\\b(?!\\s+\\d+\\s+R)`).exec(dictionary) ?? [];
  return number === undefined ? Number.NaN : Number(number);
}

/** Returns the pictures reachable from a page. `without`: objects known to lead to none. */
function imagesFrom(
  page: number,
  objects: ReadonlyMap<number, string>,
  images: ReadonlyMap<number, ImageObject>,
  without: Set<number>,
): ImageObject[] {
  const found: ImageObject[] = [];
  const seen = new Set([page]);
  for (const number of seen) {
    const image = images.get(number);
    if (image) {
      found.push(image);
      continue;
    }
    const object = objects.get(number) ?? '';
    if (number !== page && PAGE.test(object)) continue;
    for (const [, reference] of object.replace(UNPAINTED_ENTRIES, '').matchAll(REFERENCE)) {
      if (!without.has(Number(reference))) seen.add(Number(reference));
    }
  }
  if (found.length === 0) for (const number of seen) without.add(number);
  return found;
}
