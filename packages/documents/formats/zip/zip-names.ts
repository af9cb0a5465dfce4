import { crc32 } from 'node:zlib';

/** The raw name of an entry in a ZIP archive. */
export interface RawName {
  bytes: Buffer;
  /** Whether the archive declares the name as UTF-8. */
  isDeclaredUtf8: boolean;
  extra: Buffer;
}

/** The upper half of the DOS code page 437, the default for undeclared names (APPNOTE, appendix D). */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/** Characters of plausible names in CP437: ASCII, Latin letters and some signs. */
const WORDS_OF_CP437 = /^[\x20-\x7e\p{Script=Latin}¿¡«»°·²½¼£¥¢\u00a0]*$/u;

/** Characters of plausible names in Shift-JIS: ASCII, kana, full-width signs and kanji. */
const JAPANESE = /^[\x20-\x7e\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]*$/u;

/** Double-byte text in EUC-JP, EUC-KR or GB2312, which may also decode as other encodings. */
const EUC = /^(?:[\x20-\x7e]|[\xa1-\xfe]{2})*$/;

const EXTRA_UNICODE_PATH = 0x7075;

/**
 * Decodes the names of an archive's entries. A name is UTF-8 if it is declared (by the flag, or by the extra field
 * 0x7075 with a checksum of the name) or valid; invalid bytes of a declared name are replaced. One system wrote all
 * other names. They are Shift-JIS if that is proven: all are valid and Japanese, and they are neither words in CP437
 * nor another double-byte encoding. Otherwise they are CP437, the format's default.
 */
export function namesOf(names: readonly RawName[]): string[] {
  const known = names.map((name) => unicodePath(name) ?? utf8(name));
  const others = names.filter((_, i) => known[i] === undefined).map(({ bytes }) => bytes);
  const decode = isShiftJis(others) ? (bytes: Buffer) => shiftJis(bytes) ?? cp437(bytes) : cp437;
  return names.map(({ bytes }, i) => known[i] ?? decode(bytes));
}

function utf8({ bytes, isDeclaredUtf8 }: RawName): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return isDeclaredUtf8 ? bytes.toString('utf8') : undefined;
  }
}

/** Returns the name in the extra field if its checksum matches the entry's name. */
function unicodePath({ bytes, extra }: RawName): string | undefined {
  const field = extraField(extra, EXTRA_UNICODE_PATH);
  if (!field || field.length < 5 || field[0] !== 1 || field.readUInt32LE(1) !== crc32(bytes)) return undefined;
  return utf8({ bytes: field.subarray(5), isDeclaredUtf8: false, extra: field });
}

/** Returns the content of the first extra field with an id. */
export function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length; ) {
    const size = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, at + 4 + size);
    at += 4 + size;
  }
  return undefined;
}

function isShiftJis(names: readonly Buffer[]): boolean {
  return (
    names.length > 0 &&
    names.every((bytes) => JAPANESE.test(shiftJis(bytes) ?? '\0')) &&
    names.some((bytes) => !WORDS_OF_CP437.test(cp437(bytes))) &&
    names.some((bytes) => !EUC.test(bytes.toString('latin1')))
  );
}

function shiftJis(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('shift_jis', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function cp437(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => CP437[byte.charCodeAt(0) - 0x80] ?? byte);
}
