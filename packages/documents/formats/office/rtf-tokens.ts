import { ExtractError } from '../extract-error.ts';

/** A token of RTF. The bytes of a text are in the encoding of its font. */
export type RtfToken =
  | { type: 'open' }
  | { type: 'close' }
  | { type: 'word'; name: string; value: number | undefined }
  | { type: 'text'; bytes: string };

/** No program writes groups nested deeper than this. */
const DEPTH_MAX = 500;

/** Splits RTF, decoded as Latin-1, into tokens. Throws an ExtractError if groups are nested too deep. */
export function* rtfTokens(rtf: string): Generator<RtfToken> {
  const token = /[{}]|\\(?:([a-z]{1,32})(-?\d{1,10})? ?|'([0-9a-f]{2})|([^a-z]))|[^\\{}\r\n]+|[\r\n]+/gisy;
  let depth = 0;
  for (let found = token.exec(rtf); found; found = token.exec(rtf)) {
    const [whole, name, value, hex, symbol] = found;
    if (whole === '{') {
      depth += 1;
      if (depth > DEPTH_MAX)
        throw new ExtractError(
          'unreadable',
          'the RTF document is nested too deep; save it as .docx and upload that file',
        );
      yield { type: 'open' };
    } else if (whole === '}') {
      depth -= 1;
      yield { type: 'close' };
    } else if (name === 'bin') token.lastIndex += Math.max(0, Number(value ?? 0));
    else if (name !== undefined)
      yield { type: 'word', name: name.toLowerCase(), value: value === undefined ? undefined : Number(value) };
    else if (hex !== undefined) yield { type: 'text', bytes: String.fromCharCode(Number.parseInt(hex, 16)) };
    else if (symbol !== undefined) yield* symbolToken(symbol);
    else if (!/^[\r\n]/.test(whole)) yield { type: 'text', bytes: whole };
  }
}

function* symbolToken(symbol: string): Generator<RtfToken> {
  if ('\\{}'.includes(symbol)) yield { type: 'text', bytes: symbol };
  else if (symbol === '\n' || symbol === '\r') yield { type: 'word', name: 'par', value: undefined };
  else if ('~_*'.includes(symbol)) yield { type: 'word', name: symbol, value: undefined };
}
