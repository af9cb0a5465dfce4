import { isUtf8 } from 'node:buffer';
import { ExtractError } from './extract-error.ts';

/** UTF-8, or UTF-16 with a byte order mark, with line ends as LF. Nothing is guessed: a wrong guess garbles silently. */
export function decodeText(bytes: Uint8Array): string {
  const marked = markedEncoding(bytes);
  if (marked) return clean(decodeAs(bytes, marked));
  if (!isUtf8(bytes)) {
    const at = firstInvalid(bytes);
    const byte = (bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, '0');
    throw new ExtractError(
      'bad_encoding',
      `the file is not UTF-8 text (byte 0x${byte} at offset ${at}); save it as UTF-8 and upload it again`,
    );
  }
  return clean(Buffer.from(bytes).toString('utf8'));
}

/** HTML says its encoding itself: by a mark, by the declared type or by <meta charset> in its first 1,024 bytes. */
export function decodeHtml(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  const declared =
    markedEncoding(bytes) ??
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1] ??
    /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
  // Whoever can read a <meta> tag byte by byte is not looking at UTF-16, whatever the tag says (HTML, 13.2.3.2).
  if (declared === undefined || (/^utf-16/i.test(declared) && !markedEncoding(bytes) && !bytes.includes(0))) {
    return decodeText(bytes);
  }
  return clean(decodeAs(bytes, declared));
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decodeAs(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ExtractError(
      'bad_encoding',
      `the file is not the ${encoding.slice(0, 20)} text that it says it is; save it as UTF-8 and upload it again`,
    );
  }
}

function clean(text: string): string {
  if (text.includes('\0'))
    throw new ExtractError('not_text', 'the file is not text; upload Markdown, plain text or HTML');
  return text.toWellFormed().replace(/\r\n?/g, '\n');
}

function firstInvalid(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  // The longest valid beginning, give or take a character that is cut at the probe's end.
  while (high - low > 8) {
    const middle = (low + high) >> 1;
    if (isValidBeginning(bytes.subarray(0, middle))) low = middle;
    else high = middle;
  }
  for (let at = Math.max(0, low - 4); at < high; at += 1) if (!isValidBeginning(bytes.subarray(0, at + 1))) return at;
  return low;
}

function isValidBeginning(bytes: Uint8Array): boolean {
  for (let cut = 0; cut <= 3 && cut <= bytes.length; cut += 1) {
    const kept = bytes.subarray(0, bytes.length - cut);
    const tail = bytes[bytes.length - cut];
    if (isUtf8(kept) && (cut === 0 || (tail !== undefined && startsCharacterOf(tail, cut)))) return true;
  }
  return false;
}

/** Whether this byte starts a character that needs more bytes than the `present` ones. */
function startsCharacterOf(byte: number, present: number): boolean {
  if (byte >= 0xc2 && byte <= 0xdf) return present < 2;
  if (byte >= 0xe0 && byte <= 0xef) return present < 3;
  return byte >= 0xf0 && byte <= 0xf4 && present < 4;
}
