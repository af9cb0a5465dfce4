import { inflateSync } from 'node:zlib';

/** The limit of unpacked object streams in a PDF, in bytes; they contain references, but no text or pictures. */
const MAX_UNPACKED_BYTES = 64 * 2 ** 20;

/** The maximum length of a stream's dictionary. */
const DICTIONARY_MAX = 2 ** 16;

/** The objects of a file by number. */
export interface FileObjects {
  /** The source of each object; for a stream, its dictionary. */
  texts: ReadonlyMap<number, string>;
  /** The byte range of each stream. */
  streams: ReadonlyMap<number, { start: number; end: number }>;
}

const known = new WeakMap<Uint8Array, { objects: FileObjects | undefined }>();

/** Finds the objects of a PDF; undefined if object streams cannot be unpacked. Cached by file. */
export function fileObjects(bytes: Uint8Array): FileObjects | undefined {
  const before = known.get(bytes);
  if (before) return before.objects;
  const objects = objectsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  known.set(bytes, { objects });
  return objects;
}

function objectsOf(file: Buffer): FileObjects | undefined {
  const texts = new Map<number, string>();
  const streams = new Map<number, { start: number; end: number }>();
  let left = MAX_UNPACKED_BYTES;
  for (let at = file.indexOf('obj'); at >= 0; ) {
    const number = /(\d+)\s+\d+\s+$/.exec(file.toString('latin1', Math.max(0, at - 24), at))?.[1];
    const begin = at + 3;
    const { text, stream } = number === undefined ? { text: '', stream: undefined } : bodyAt(file, begin);
    at = file.indexOf('obj', begin);
    if (number !== undefined) texts.set(Number(number), text);
    if (stream === undefined) continue;
    const end = streamEnd(file, text, stream);
    if (end < 0) break;
    if (number !== undefined) streams.set(Number(number), { start: stream, end });
    at = file.indexOf('obj', end);
    if (!/\/Type\s*\/ObjStm\b/.test(text)) continue;
    const packed = unpack(text, file.subarray(stream, end), left);
    if (packed === undefined) return undefined;
    left -= packed.size;
    for (const [each, body] of packed.objects) texts.set(each, body);
  }
  return { texts, streams };
}

/** Returns the source of the object at `begin`, and the offset of its stream, if any. */
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
    // The stream is encrypted, damaged or too large.
    return undefined;
  }
  const numbers = text.slice(0, first).trim().split(/\s+/).map(Number);
  const objects: [number, string][] = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    objects.push([numbers[i] ?? 0, text.slice(first + (numbers[i + 1] ?? 0), first + (numbers[i + 3] ?? text.length))]);
  }
  return { size: text.length, objects };
}
