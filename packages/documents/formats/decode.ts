import { isUtf8 } from 'node:buffer';
import { ExtractError } from './extract-error.ts';

/**
 * Decodes a file, with line ends as LF. The encoding comes from its byte order mark, from valid UTF-8, from proof in
 * its bytes (UTF-16 by the places of NULs, ISO-2022-JP by escape sequences), or from the declaration in the file or its
 * type. Encodings are not guessed, because a wrong guess corrupts text silently. Throws an ExtractError (bad_encoding,
 * not_text).
 */
export function decodeText(bytes: Uint8Array, contentType = ''): string {
  const unread = unreadEncoding(bytes);
  if (unread)
    throw new ExtractError('bad_encoding', `the file is ${unread} text; save it as UTF-8 and upload it again`);
  const proven = provenEncoding(bytes);
  if (proven) return asText(decodeAs(bytes, proven));
  const declared = charsetOf(contentType) ?? xmlEncoding(bytes) ?? modelineEncoding(bytes);
  if (declared !== undefined && !isUnicode(declared)) return asText(decodeAs(bytes, declared));
  // Pictures and programs are not text in any encoding, so advice to save them as UTF-8 would not help.
  if (bytes.subarray(0, 8_192).includes(0)) throw notText();
  const at = firstInvalid(bytes);
  const byte = (bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, '0');
  throw new ExtractError(
    'bad_encoding',
    `the file is not UTF-8 text (byte 0x${byte} at offset ${at}) and declares no other encoding; save it as UTF-8 and upload it again, or set its encoding (in the form, as the field "encoding", or in its type: "text/plain; charset=windows-1252")`,
  );
}

/**
 * Decodes an HTML file by its byte order mark, the declared type, or <meta> in its first 1,024 bytes, in this order
 * (HTML Standard, section 13.2.3.2), or by its XML declaration. Otherwise decodes it as text, or as Windows-1252 if it
 * is not UTF-8.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string): string {
  if (markedEncoding(bytes)) return decodeText(bytes);
  if (isWindows1252(bytes, contentType)) return asText(decodeAs(bytes, 'windows-1252'));
  const declared = htmlEncoding(bytes, contentType);
  // A <meta> that is readable as ASCII is not UTF-16, whatever it declares.
  if (declared === undefined || isUnicode(declared)) return decodeText(bytes);
  // Text in a single-byte encoding is practically never valid UTF-8, so the declaration is wrong.
  if (ONE_BYTE.test(declared) && isUtf8(bytes)) return decodeText(bytes);
  return asText(decodeAs(bytes, declared));
}

function htmlEncoding(bytes: Uint8Array, contentType: string): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  const [, named] = /<meta\s[^<>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) ?? [];
  return charsetOf(contentType) ?? named ?? xmlEncoding(bytes);
}

/**
 * Whether a file is Windows-1252 by the default of the HTML Standard: it names no encoding and is not UTF-8. False for
 * XML, whose default is UTF-8, and if most letters beyond ASCII are valid UTF-8: such a file is damaged UTF-8.
 */
export function isWindows1252(bytes: Uint8Array, contentType: string): boolean {
  if (htmlEncoding(bytes, contentType) !== undefined || modelineEncoding(bytes) !== undefined) return false;
  if (provenEncoding(bytes) || unreadEncoding(bytes) || bytes.subarray(0, EXAMINED).includes(0)) return false;
  if (/^\s*<\?xml\s/i.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'))) return false;
  const text = new TextDecoder().decode(bytes);
  const damaged = text.split('\ufffd').length - 1;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for letters beyond ASCII
  const letters = (text.match(/[^\x00-\x7f]/g)?.length ?? 0) - damaged;
  return damaged > letters;
}

const ONE_BYTE = /^(?:iso[-_]?8859[-_]?\d+|latin[-_]?\d|windows-?125\d|cp125\d|us-ascii|ascii)$/i;

/**
 * Returns the name of an encoding that the bytes prove but the Encoding Standard lacks; read as UTF-8 or UTF-16, its
 * text would be garbage.
 */
function unreadEncoding(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, EXAMINED)).toString('latin1');
  if (start.startsWith('\xff\xfe\0\0') || start.startsWith('\0\0\xfe\xff')) return 'UTF-32';
  // An escape sequence names the character set, and its characters are between SO and SI.
  if (!start.includes('\x0e')) return undefined;
  if (start.includes('\x1b$)C')) return 'ISO-2022-KR';
  return start.includes('\x1b$)A') || start.includes('\x1b$)G') ? 'ISO-2022-CN' : undefined;
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function provenEncoding(bytes: Uint8Array): string | undefined {
  const marked = markedEncoding(bytes);
  if (marked) return marked;
  if (isIso2022Jp(bytes)) return 'iso-2022-jp';
  return unmarkedUtf16(bytes) ?? (isUtf8(bytes) ? 'utf-8' : undefined);
}

/**
 * Whether a 7-bit file has an escape sequence to double-byte characters and another one back, which no other format
 * has.
 */
function isIso2022Jp(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (
    !['\x1b$B', '\x1b$@'].some((to) => file.includes(to)) ||
    !['\x1b(B', '\x1b(J'].some((back) => file.includes(back))
  )
    return false;
  return decoded(bytes, 'iso-2022-jp') !== undefined;
}

/** The number of bytes to examine for UTF-16 without a mark, and the minimum length. */
const EXAMINED = 8_192;
const PROOF_MIN = 8;

/**
 * Detects UTF-16 without a mark. Text in any script has spaces and line ends, whose upper byte is 0, but no NUL, so all
 * zeros are at even or all at odd offsets. Programs and pictures have zeros at both, or control characters.
 */
function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 !== 0 || bytes.length < PROOF_MIN) return undefined;
  const start = bytes.subarray(0, EXAMINED);
  const zeros = [0, 0];
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const encoding = odd > 20 * even ? 'utf-16le' : even > 20 * odd ? 'utf-16be' : undefined;
  if (!encoding || Math.max(even, odd) < start.length / 16) return undefined;
  const text = decoded(bytes, encoding);
  // Tabs and line ends are the only control characters of a text.
  const isText = text !== undefined && !/[\p{Cc}\ufffe\uffff]/u.test(text.replace(/[\t\n\f\r]/g, ''));
  return isText ? encoding : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
}

function xmlEncoding(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  return /^\s*<\?xml\s[^<>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/i.exec(start)?.[1];
}

/** Returns the encoding in a modeline for Emacs (or Python) at the beginning, or for Vim at the beginning or end. */
function modelineEncoding(bytes: Uint8Array): string | undefined {
  const first = Buffer.from(bytes.subarray(0, 1_024))
    .toString('latin1')
    .split(/\r\n?|\n/, 5);
  const last = Buffer.from(bytes.subarray(-1_024))
    .toString('latin1')
    .split(/\r\n?|\n/)
    .slice(-6);
  const emacs = /-\*-.*?\bcoding:\s*([\w.-]+).*?-\*-|^[ \t\f]*#.*?\bcoding[:=][ \t]*([\w.-]+)/;
  const vim = /(?:^|\s)(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([\w.-]+)/;
  for (const line of first.slice(0, 2)) {
    const [, declared = emacs.exec(line)?.[2]] = emacs.exec(line) ?? [];
    if (declared !== undefined) return withoutLineEnds(declared);
  }
  for (const line of [...first, ...last]) {
    const [, declared] = vim.exec(line) ?? [];
    if (declared !== undefined) return withoutLineEnds(declared);
  }
  return undefined;
}

/** Names in modelines that include the line ends, or that the Encoding Standard lacks. */
const EDITOR_NAMES: Record<string, string> = {
  'latin-1': 'latin1',
  'iso-latin-1': 'latin1',
  cp932: 'shift_jis',
  'japanese-shift-jis': 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
};

function withoutLineEnds(declared: string): string {
  const name = declared.toLowerCase().replace(/-(?:unix|dos|mac)$/, '');
  return EDITOR_NAMES[name] ?? name;
}

function isUnicode(declared: string): boolean {
  return /^(?:utf-?8|utf-?16|unicode$)/i.test(declared);
}

function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    // The encoding is unknown, or the bytes are invalid in it.
    return undefined;
  }
}

function decodeAs(bytes: Uint8Array, encoding: string): string {
  const text = decoded(bytes, encoding);
  if (text !== undefined) return text;
  throw new ExtractError(
    'bad_encoding',
    `the file declares ${encoding.slice(0, 20)}, but its text is not valid in this encoding; save it as UTF-8 and upload it again`,
  );
}

function asText(text: string): string {
  if (text.includes('\0')) throw notText();
  return text.replace(/\r\n?/g, '\n');
}

function notText(): ExtractError {
  return new ExtractError('not_text', 'the file is not text (it contains NUL bytes)');
}

/** Returns the offset of the first byte that is invalid UTF-8. */
function firstInvalid(bytes: Uint8Array): number {
  const text = new TextDecoder().decode(bytes);
  let at = 0;
  let from = 0;
  for (;;) {
    const next = text.indexOf('\ufffd', from);
    if (next < 0) return at;
    at += Buffer.byteLength(text.slice(from, next));
    // The replacement character may also be part of the text.
    const isItself = bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
    if (!isItself) return at;
    at += 3;
    from = next + 1;
  }
}
