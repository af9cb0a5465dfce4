import { isUtf8 } from 'node:buffer';
import { ExtractError } from './extract-error.ts';

/**
 * Decodes a file as UTF-8, or as UTF-16 with a byte order mark, with line ends as LF. Other encodings are not guessed,
 * because a wrong guess corrupts text silently. Throws an ExtractError (bad_encoding, not_text).
 */
export function decodeText(bytes: Uint8Array): string {
  const marked = markedEncoding(bytes);
  if (marked) return asText(decodeAs(bytes, marked));
  if (isUtf8(bytes)) return asText(new TextDecoder().decode(bytes));
  // Bytes of pictures and programs are not text in any encoding, so advising to save them as UTF-8 would not help.
  if (bytes.subarray(0, 8_192).includes(0)) throw notText();
  const at = firstInvalid(bytes);
  const byte = (bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, '0');
  throw new ExtractError(
    'bad_encoding',
    `the file is not UTF-8 text (byte 0x${byte} at offset ${at}); save it as UTF-8 and upload it again`,
  );
}

/**
 * Decodes an HTML file by its byte order mark, the declared type, or <meta> in its first 1,024 bytes, in this order
 * (HTML Standard, section 13.2.3.2), else as UTF-8.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string): string {
  if (markedEncoding(bytes)) return decodeText(bytes);
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  const declared =
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1] ??
    /<meta\s[^<>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
  // A <meta> that is readable as ASCII is not UTF-16, whatever it declares.
  if (declared === undefined || /^(?:utf-?8|utf-?16|unicode$)/i.test(declared)) return decodeText(bytes);
  return asText(decodeAs(bytes, declared));
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
    // Unknown encodings and invalid bytes both end here.
    throw new ExtractError(
      'bad_encoding',
      `the file is not the ${encoding.slice(0, 20)} text that it says it is; save it as UTF-8 and upload it again`,
    );
  }
}

function asText(text: string): string {
  if (text.includes('\0')) throw notText();
  return text.replace(/\r\n?/g, '\n');
}

function notText(): ExtractError {
  return new ExtractError('not_text', 'the file is not text (it holds NUL bytes); upload Markdown, plain text or HTML');
}

/** The offset of the first byte that is invalid UTF-8. */
function firstInvalid(bytes: Uint8Array): number {
  const text = new TextDecoder().decode(bytes);
  let at = 0;
  let from = 0;
  for (;;) {
    const next = text.indexOf('\ufffd', from);
    if (next < 0) return at;
    at += Buffer.byteLength(text.slice(from, next));
    // The replacement character can also be part of the text.
    const isItself = bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
    if (!isItself) return at;
    at += 3;
    from = next + 1;
  }
}
