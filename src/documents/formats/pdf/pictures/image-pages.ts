import { inflateSync } from 'node:zlib';

/** The limit of unpacked object streams of a PDF; they contain only references, no text or pictures. */
const MAX_UNPACKED_BYTES = 64 * 2 ** 20;

/** The maximum length of a stream's dictionary. */
const DICTIONARY_MAX = 2 ** 16;

const IMAGE = /\/Subtype\s*\/Image\b/;

/** Entries of a page that refer to other pages, or to pictures that are not painted on it. */
const UNPAINTED_ENTRIES = /\/(?:Kids|Annots|B|Thumb|Dests?|Metadata)\s*(?:\[[^\]]*\]|\d+\s+\d+\s+R\b)/g;
const PAGE = /\/Type\s*\/Page\b/;
const REFERENCE = /\b(\d+)\s+\d+\s+R\b/g;

/** A picture object; sizes in pixels, NaN if they are not known. */
export interface ImageObject {
  object: number;
  width: number;
  height: number;
}

/**
 * The pictures that pages (by object number) may show: those to which references lead from them. The library only knows
 * after it has processed the whole page, which takes as long as reading its text. Undefined if the objects cannot be
 * parsed, for example in an encrypted PDF.
 */
export function imagesOfPages(bytes: Uint8Array, pages: readonly number[]): ImageObject[][] | undefined {
  const objects = objectsOf(bufferOf(bytes));
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

/** A number in a dictionary; an indirect one may have any value. */
function entry(dictionary: string, name: string): number {
  const [, number] = new RegExp(`/${name}\\s+(\\d+)\\b(?!\\s+\\d+\\s+R)`).exec(dictionary) ?? [];
  return number === undefined ? Number.NaN : Number(number);
}

/** The pictures that are reachable from a page. `without`: objects known to lead to none. */
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

/** The objects by number, of streams the dictionaries; undefined if object streams cannot be unpacked. */
function objectsOf(file: Buffer): ReadonlyMap<number, string> | undefined {
  const objects = new Map<number, string>();
  let left = MAX_UNPACKED_BYTES;
  for (let at = file.indexOf('obj'); at >= 0; ) {
    const number = /(\d+)\s+\d+\s+$/.exec(file.toString('latin1', Math.max(0, at - 24), at))?.[1];
    const begin = at + 3;
    const { text, stream } = number === undefined ? { text: '', stream: undefined } : bodyAt(file, begin);
    at = file.indexOf('obj', begin);
    if (number !== undefined) objects.set(Number(number), text);
    if (stream === undefined) continue;
    const end = streamEnd(file, text, stream);
    if (end < 0) break;
    at = file.indexOf('obj', end);
    if (!/\/Type\s*\/ObjStm\b/.test(text)) continue;
    const packed = unpack(text, file.subarray(stream, end), left);
    if (packed === undefined) return undefined;
    left -= packed.size;
    for (const [each, body] of packed.objects) objects.set(each, body);
  }
  return objects;
}

/** The content of an object from `begin` on, and the offset of its stream, if any. */
function bodyAt(file: Buffer, begin: number): { text: string; stream: number | undefined } {
  for (const length of [1_024, DICTIONARY_MAX]) {
    const text = file.toString('latin1', begin, begin + length);
    const end = /\bendobj\b|\bstream\r?\n/.exec(text);
    if (!end) continue;
    const stream = end[0] === 'endobj' ? undefined : begin + end.index + end[0].length;
    return { text: text.slice(0, end.index), stream };
  }
  return { text: file.toString('latin1', begin, begin + DICTIONARY_MAX), stream: undefined };
}

function streamEnd(file: Buffer, dictionary: string, start: number): number {
  const [, length] = /\/Length\s+(\d+)\b(?!\s+\d+\s+R)/.exec(dictionary) ?? [];
  const end = start + Number(length);
  if (
    length !== undefined &&
    file
      .toString('latin1', end, end + 11)
      .trim()
      .startsWith('endstream')
  )
    return end;
  return file.indexOf('endstream', start);
}

function unpack(
  dictionary: string,
  stream: Buffer,
  max: number,
): { size: number; objects: [number: number, body: string][] } | undefined {
  const first = Number(/\/First\s+(\d+)/.exec(dictionary)?.[1]);
  if (!/\/Filter\s*\[?\s*\/FlateDecode\b/.test(dictionary) || /\/Predictor\b/.test(dictionary)) return undefined;
  let text: string;
  try {
    text = inflateSync(stream, { maxOutputLength: Math.max(max, 1) }).toString('latin1');
  } catch {
    // It is encrypted, damaged or too large.
    return undefined;
  }
  const numbers = text.slice(0, first).trim().split(/\s+/).map(Number);
  const objects: [number, string][] = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    objects.push([numbers[i] ?? 0, text.slice(first + (numbers[i + 1] ?? 0), first + (numbers[i + 3] ?? text.length))]);
  }
  return { size: text.length, objects };
}
