import type { RestOfFile } from './extracted.ts';
import type { TextFormat } from './formats.ts';

const NEWLINE = 10;

/** How far before its limit a beginning may end, to end with a line; in bytes. */
const LINE_MAX = 2 ** 20;

/**
 * Reads the beginning of a text file that is too large to be read completely, up to the end of a line, and counts the
 * rest piece by piece. Removes pictures in `data:` addresses from HTML. Throws the errors of `chunks`.
 */
export async function beginningOf(
  chunks: AsyncIterable<Uint8Array>,
  { kind, beginning }: Pick<TextFormat, 'kind' | 'beginning'>,
): Promise<{ bytes: Buffer; rest: RestOfFile }> {
  const withoutPictures = kind === 'html' ? pictureFilter() : (chunk: Buffer) => chunk;
  const held: Buffer[] = [];
  let length = 0;
  const rest = { lines: 0, characters: 0 };
  for await (const chunk of chunks) {
    const piece = withoutPictures(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    const kept = piece.subarray(0, Math.max(0, beginning - length));
    if (kept.length > 0) held.push(kept);
    length += kept.length;
    count(piece.subarray(kept.length), rest);
  }
  const read = Buffer.concat(held);
  const bytes = read.subarray(0, length < beginning ? length : endOfLine(read));
  count(read.subarray(bytes.length), rest);
  return { bytes, rest };
}

/** Counts lines and characters of bytes: all supported encodings write line ends and spaces as ASCII does. */
function count(bytes: Uint8Array, rest: RestOfFile): void {
  for (const byte of bytes) {
    if (byte === NEWLINE) rest.lines += 1;
    // Skip white space, NUL, and continuation bytes of UTF-8.
    else if (byte > 32 && (byte & 0xc0) !== 0x80) rest.characters += 1;
  }
}

/** Returns the end of the last complete line. In UTF-16 the other byte of a line feed precedes or follows it. */
function endOfLine(bytes: Buffer): number {
  const at = bytes.lastIndexOf(NEWLINE);
  if (at >= 0 && at > bytes.length - LINE_MAX) {
    const isLittleEndian = at % 2 === 0 && bytes[at + 1] === 0;
    return at + (isLittleEndian ? 2 : 1);
  }
  return endOfCharacter(bytes.subarray(0, bytes.length - (bytes.length % 2)));
}

/** Returns the end of the last complete UTF-8 character. */
function endOfCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? Math.max(0, start) : bytes.length;
}

const DATA = ';base64,';
const ENCODED = /[^A-Za-z0-9+/=%\s]/;

/**
 * Removes the content of `data:` addresses from text that comes in pieces; the HTML reader does not show any of them.
 */
function pictureFilter(): (chunk: Buffer) => Buffer {
  let isInside = false;
  let tail = '';
  return (chunk) => {
    let text = tail + chunk.toString('latin1');
    tail = '';
    let kept = '';
    while (text !== '') {
      if (isInside) {
        const end = ENCODED.exec(text)?.index ?? -1;
        if (end < 0) return Buffer.from(kept, 'latin1');
        text = text.slice(end);
        isInside = false;
      }
      const start = text.indexOf(DATA);
      if (start < 0) {
        // The mark may begin at the end of a piece.
        const held = Math.min(text.length, DATA.length - 1);
        const isCut = Array.from({ length: held }, (_, i) => held - i).find((n) => DATA.startsWith(text.slice(-n)));
        tail = isCut === undefined ? '' : text.slice(-isCut);
        kept += text.slice(0, text.length - tail.length);
        break;
      }
      kept += text.slice(0, start + DATA.length);
      text = text.slice(start + DATA.length);
      isInside = true;
    }
    return Buffer.from(kept, 'latin1');
  };
}
