import { inflateSync } from 'node:zlib';
import { fileObjects } from './file-objects.ts';

/** The limit of a content stream, in bytes; a page of text has about 50 KB. */
const CONTENT_MAX = 2 * 2 ** 20;
/** Programs split a content stream into a few streams at most. */
const STREAMS_MAX = 64;

/**
 * Returns the content stream of a page (by object number); "" if it is encrypted, too long, or compressed with a filter
 * other than the usual Flate.
 */
export function pageContent(bytes: Uint8Array, page: number): string {
  const objects = fileObjects(bytes);
  const contents = /\/Contents\s*(?:\[([^\]]*)\]|(\d+\s+\d+\s+R\b))/.exec(objects?.texts.get(page) ?? '');
  if (!objects || !contents) return '';
  const parts: string[] = [];
  let left = CONTENT_MAX;
  const numbersIn = (text: string) => [...text.matchAll(/(\d+)\s+\d+\s+R\b/g)].map(([, number]) => Number(number));
  let numbers = numbersIn(contents[1] ?? contents[2] ?? '');
  const [only] = numbers;
  // The array of streams may be a separate object.
  if (numbers.length === 1 && only !== undefined && !objects.streams.has(only)) {
    numbers = numbersIn(objects.texts.get(only) ?? '');
  }
  if (numbers.length > STREAMS_MAX) return '';
  for (const number of numbers) {
    const stream = objects.streams.get(number);
    const dictionary = objects.texts.get(number) ?? '';
    if (!stream || !/\/Filter\s*\[?\s*\/FlateDecode\s*(?:\]|\/|$|>>)/.test(dictionary)) return '';
    try {
      const text = inflateSync(bytes.subarray(stream.start, stream.end), { maxOutputLength: left }).toString('latin1');
      left -= text.length;
      if (left <= 0) return '';
      parts.push(text);
    } catch {
      // The stream is encrypted, damaged or too long.
      return '';
    }
  }
  return parts.join('\n');
}
