import { EXIF, orientationOf, tiffOf } from './exif.ts';
import { ByteReader, broken, requireSize } from './picture.ts';

/** Start of image and the first byte of the next marker. */
export const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);

const [DHT, DQT, DRI, SOS, EOI, APP0, APP1, APP14, COM] = [0xc4, 0xdb, 0xdd, 0xda, 0xd9, 0xe0, 0xe1, 0xee, 0xfe];
/** Frame types that browsers can draw: baseline, extended and progressive, each with Huffman coding. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** A progressive picture has about ten scans; thousands would keep a browser busy. */
const SCANS_MAX = 100;
const ADOBE = Buffer.from('Adobe', 'latin1');

/**
 * Keeps only the segments that draw the picture and the Exif orientation; drops comments, thumbnails, profiles and
 * trailing bytes. Throws 400 for a broken JPEG or a type that browsers do not draw.
 */
export function cleanJpeg(bytes: Buffer): Buffer {
  const reader = new ByteReader(bytes, 2);
  const drawn: Buffer[] = [];
  let orientation = 1;
  let frames = 0;
  let scans = 0;
  for (;;) {
    const marker = nextMarker(reader);
    if (marker === EOI) break;
    const start = reader.at - 2;
    const data = reader.take(Math.max(reader.take(2).readUInt16BE() - 2, 0));
    if (marker === APP1 && data.subarray(0, 6).equals(EXIF)) orientation = orientationOf(data.subarray(6));
    // The Adobe segment tells decoders how to interpret the colours.
    else if (marker === APP14 && data.length >= 12 && data.subarray(0, 5).equals(ADOBE)) {
      drawn.push(segment(APP14, data.subarray(0, 12)));
    } else if ((marker >= APP0 && marker <= 0xef) || marker === COM) continue;
    else if (FRAMES.includes(marker)) {
      if (data.length < 6 || (frames += 1) > 1) throw broken();
      requireSize(data.readUInt16BE(3), data.readUInt16BE(1));
      drawn.push(segment(marker, data));
    } else if (marker === SOS) {
      if (frames === 0 || (scans += 1) > SCANS_MAX) throw broken();
      skipScan(reader, bytes);
      drawn.push(Buffer.from([0xff, SOS]), bytes.subarray(start + 2, reader.at));
    } else if (marker === DHT || marker === DQT || marker === DRI) drawn.push(segment(marker, data));
    else throw broken();
  }
  if (scans === 0) throw broken();
  const turned = orientation === 1 ? [] : [segment(APP1, Buffer.concat([EXIF, tiffOf(orientation)]))];
  return Buffer.concat([JPEG_SIGNATURE.subarray(0, 2), ...turned, ...drawn, Buffer.from([0xff, EOI])]);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Reads the next marker. Markers may be padded with any number of 0xff bytes. */
function nextMarker(reader: ByteReader): number {
  if (reader.byte() !== 0xff) throw broken();
  for (;;) {
    const marker = reader.byte();
    if (marker !== 0xff) return marker;
  }
}

/**
 * Skips to the marker after a scan. Inside a scan, 0xff 0x00 is an escaped 0xff byte, and restart markers do not end
 * the scan.
 */
function skipScan(reader: ByteReader, bytes: Buffer): void {
  for (;;) {
    const at = bytes.indexOf(0xff, reader.at);
    const next = bytes[at + 1];
    if (at < 0 || next === undefined) throw broken();
    const isWithin = next === 0 || (next >= 0xd0 && next <= 0xd7);
    reader.at = isWithin ? at + 2 : next === 0xff ? at + 1 : at;
    if (!isWithin && next !== 0xff) return;
  }
}
