import { crc32 } from 'node:zlib';

/** The name of an entry of a ZIP archive as it is stored. */
export interface RawName {
  bytes: Buffer;
  /** Whether the archive says that it is UTF-8. */
  isDeclaredUtf8: boolean;
  extra: Buffer;
}

/** The upper half of the code page of DOS, in which names are that declare nothing (APPNOTE, appendix D). */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/** What a name in CP437 has beyond ASCII: letters, and some signs. */
const WORDS_OF_CP437 = /^[\x20-\x7e\p{Script=Latin}¿¡«»°·²½¼£¥¢\u00a0]*$/u;

/** What a name in Shift-JIS decodes to: ASCII, kana and signs of full width, and kanji. */
const JAPANESE = /^[\x20-\x7e\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]*$/u;

/** The two bytes of each character in EUC-JP, EUC-KR and GB2312, which also decode as other things. */
const EUC = /^(?:[\x20-\x7e]|[\xa1-\xfe]{2})*$/;

const EXTRA_UNICODE_PATH = 0x7075;

/**
 * Reads the names of an archive's entries. A name is UTF-8 if it says so (the flag, or the extra field 0x7075 with a
 * checksum of the name) or is valid UTF-8; invalid bytes of one that says so are replaced. The others were all written by one
 * system: they are Shift-JIS if that is proven (all of them are valid and Japanese, and they are neither words in CP437 nor
 * another code of two bytes), else CP437, the format's default.
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

/** The name in the extra field, which counts as long as its checksum is that of the name beside it. */
function unicodePath({ bytes, extra }: RawName): string | undefined {
  const field = extraField(extra, EXTRA_UNICODE_PATH);
  if (!field || field.length < 5 || field[0] !== 1 || field.readUInt32LE(1) !== crc32(bytes)) return undefined;
  return utf8({ bytes: field.subarray(5), isDeclaredUtf8: false, extra: field });
}

/** The content of the first extra field with this id. */
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
