import { inflateSync } from 'node:zlib';
import { fileObjects } from './file-objects.ts';

/** The limit of what a page draws; a page of text has about 50 KB. */
const CONTENT_MAX = 2 * 2 ** 20;
/** Programs divide it into a few streams. */
const STREAMS_MAX = 64;

/**
 * What a page (by its object number) draws, as the program in the file; "" if it is encrypted, compressed in another way than
 * all common programs do it, or too long.
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
  // The list of streams may be an object of its own.
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
      // It is encrypted, damaged or too long.
      return '';
    }
  }
  return parts.join('\n');
}
