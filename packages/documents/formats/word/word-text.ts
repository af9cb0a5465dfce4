import { countCharacters } from '../losses.ts';
import { decodeXml } from './xml-tree.ts';

const TEXTS = /<(?:\w+:)?(t|delText|v)(?:\s[^<>]*)?>([^<]*)</g;

/** The text of a piece of XML of Word: of its runs, deletions and equations. */
export function textOfXml(xml: string): string {
  let text = '';
  for (const [, , piece = ''] of xml.matchAll(TEXTS)) text += `${decodeXml(piece)} `;
  return text;
}

/** The characters of the texts of a part, white space not counted; alternate content counts once. */
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
