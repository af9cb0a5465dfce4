/** Encodings by Windows code page, and code pages by character set of a font. */
const CODE_PAGES: Record<number, string> = {
  437: 'ibm866',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  65001: 'utf-8',
};
const CHARSETS: Record<number, number> = {
  77: 10_000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Returns the code page of a character set; undefined if the document's code page applies. */
export function codePageOf(charset: number): number | undefined {
  return CHARSETS[charset];
}

/** Decodes text that has one byte per character. */
export function decodeBytes(bytes: string, codePage: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for letters beyond ASCII
  if (!/[^\x00-\x7f]/.test(bytes)) return bytes;
  const name = CODE_PAGES[codePage] ?? (codePage >= 1250 && codePage <= 1258 ? `windows-${codePage}` : 'windows-1252');
  return new TextDecoder(name).decode(Buffer.from(bytes, 'latin1'));
}

/** Characters that have a control word. */
export const CHARACTERS: Record<string, string> = {
  '~': '\u00a0',
  _: '\u2011',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  tab: ' ',
};
