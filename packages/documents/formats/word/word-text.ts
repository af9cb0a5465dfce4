import { countCharacters } from '../losses.ts';
import { decodeXml } from './xml-tree.ts';

const TEXTS = /<(?:\w+:)?(t|delText|v)(?:\s[^<>]*)?>([^<]*)</g;

/** Returns the text of a piece of Word XML: runs, deletions and equations. */
export function textOfXml(xml: string): string {
  let text = '';
  for (const [, , piece = ''] of xml.matchAll(TEXTS)) text += `${decodeXml(piece)} `;
  return text;
}

/** Counts the characters of a part's texts without white space; skips the fallback of alternate content. */
export function countWordCharacters(xml: string): number {
  let count = 0;
  let from = 0;
  while (from < xml.length) {
    const fallback = xml.indexOf('<mc:Fallback>', from);
    const piece = xml.slice(from, fallback < 0 ? xml.length : fallback);
    for (const [, , text = ''] of piece.matchAll(TEXTS)) count += countCharacters(decodeXml(text));
    const end = fallback < 0 ? -1 : xml.indexOf('</mc:Fallback>', fallback);
    if (end < 0) break;
    from = end;
  }
  return count;
}
