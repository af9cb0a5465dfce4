import type { DecodedImage } from './paint-operators.ts';
import type { JpegOf } from './picture-file.ts';

/** The maximum length of a picture's dictionary. */
const DICTIONARY_MAX = 4_096;

/** Colour spaces that JPEG supports too, so that the file looks the same as in the PDF. */
const OWN_COLORS = /\/ColorSpace\s*(?:\/Device(?:RGB|Gray)\b|\/Cal(?:RGB|Gray)\b|\[\s*\/(?:ICCBased|CalRGB|CalGray)\b)/;
const REFERRED_COLORS = /\/ColorSpace\s+\d+\s+\d+\s+R\b/;

/**
 * Finds the JPEG files embedded in a PDF, which are used unchanged: lossless, and small. Finds none for pictures in
 * other colour spaces, in an encrypted PDF, or if the PDF and the file disagree.
 */
export function jpegsIn(bytes: Uint8Array): JpegOf {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = jpegObjects(file);
  return (image) => {
    const start = starts.get(image.ref ?? '');
    return start === undefined ? undefined : jpegAt(file, start, image);
  };
}

/** Returns the offsets of objects that are JPEG files; of several objects with the same number, the last is current. */
function jpegObjects(file: Buffer): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (let at = file.indexOf('/DCTDecode'); at >= 0; at = file.indexOf('/DCTDecode', at + 1)) {
    const before = file.toString('latin1', Math.max(0, at - DICTIONARY_MAX), at);
    const object = [...before.matchAll(/(\d+)\s+(\d+)\s+obj\b/g)].at(-1);
    if (!object) continue;
    const [all, number, generation] = object;
    const ref = generation === '0' ? `${number}R` : `${number}R${generation}`;
    starts.set(ref, at - before.length + object.index + all.length);
  }
  return starts;
}

function jpegAt(file: Buffer, start: number, image: DecodedImage): Buffer | undefined {
  const head = file.toString('latin1', start, start + 2 * DICTIONARY_MAX);
  const keyword = /\bstream\r?\n/.exec(head);
  if (!keyword) return undefined;
  const dictionary = head.slice(0, keyword.index);
  const from = start + keyword.index + keyword[0].length;
  const jpeg = stripExif(file.subarray(from, file.indexOf('endstream', from)));
  if (!jpeg || jpeg.width !== image.width || jpeg.height !== image.height) return undefined;
  const hasOwnColors =
    OWN_COLORS.test(dictionary) ||
    (jpeg.components === 3 && REFERRED_COLORS.test(dictionary)) ||
    !/\/ColorSpace\b/.test(dictionary);
  const isOther = /\/(?:Decode|SMask|Mask)\b|\/DecodeParms\b[\s\S]*\/ColorTransform\b/.test(dictionary);
  return hasOwnColors && !isOther && jpeg.components !== 4 ? jpeg.bytes : undefined;
}

const START = 0xff_d8;
const SCAN = 0xda;
/** EXIF (APP1): orientation, which PDF viewers ignore, and private data such as the location. */
const APP1 = 0xe1;

/**
 * Returns a JPEG file without EXIF; undefined if it is not a JPEG. Frames with other than 8 bits per component are not
 * supported by browsers.
 */
function stripExif(bytes: Buffer): { width: number; height: number; components: number; bytes: Buffer } | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== START) return undefined;
  const kept = [bytes.subarray(0, 2)];
  let frame: { width: number; height: number; components: number } | undefined;
  for (let at = 2; at + 10 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const isFrame = marker >= 0xc0 && marker <= 0xc2;
    if (isFrame && bytes[at + 4] === 8) {
      frame = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7), components: bytes[at + 9] ?? 0 };
    }
    if (marker === SCAN) {
      const last = bytes.lastIndexOf(Buffer.from([0xff, 0xd9]));
      if (!frame || last < at) return undefined;
      return { ...frame, bytes: Buffer.concat([...kept, bytes.subarray(at, last + 2)]) };
    }
    if (marker !== APP1) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return undefined;
}
