import type { Annotations } from './annotations.ts';
import { type Box, turnPoint } from './frames.ts';
import type { GridCell } from './grids.ts';
import type { TaggedElement } from './tags.ts';

/** A run of text as placed by the PDF; lengths in points, y grows upwards. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** The address of the link; "" without one. */
  url: string;
  /** Whether the text runs from right to left. */
  rtl: boolean;
  /** The element of a tagged PDF that the text belongs to, or "artifact" for text outside of the document's content. */
  element?: TaggedElement | 'artifact' | undefined;
  /** The cell of a ruled table that contains the text. */
  cell?: GridCell | undefined;
  /** The name of the font if it is monospaced. */
  fixedFont?: string | undefined;
}

/** The fields used of a PDF.js text item. */
export interface TextItem {
  str: string;
  dir: string;
  transform: number[];
  width: number;
  height: number;
  fontName: string;
}

/** Places a text in its frame, split between words where a link covers only a part of it. */
export function placedTexts(
  { str, dir, transform, width, height }: TextItem,
  text: string,
  angle: number,
  { links }: Annotations,
  isVertical: boolean,
): PlacedText[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = transform;
  const size = isVertical ? width || Math.hypot(a, b) : Math.hypot(c, d) || height;
  const length = isVertical ? height : width;
  const [x, y] = turnPoint(e, f, angle);
  const whole = { text, x, y, width: length, size, url: '', rtl: dir === 'rtl' && /\p{L}/u.test(str) };
  const [left, bottom] = turnPoint(x, y + size / 3, (360 - angle) % 360);
  const [right, top] = turnPoint(x + length, y + size / 3, (360 - angle) % 360);
  const box = { x: Math.min(left, right), right: Math.max(left, right), bottom, top };
  const near = links.filter((area) => area.x < box.right && area.right > box.x && meets(area, box));
  if (near.length === 0) return [whole];
  const urlAt = (share: number) => linkAt(x + share * length, y + size / 3, angle, near);
  const url = urlAt(0.5);
  const isWhole = url !== '' && urlAt(0.05) === url && urlAt(0.95) === url;
  return isWhole || isVertical || whole.rtl ? [{ ...whole, url }] : partsOf(whole, urlAt);
}

/** Splits a text by link. Positions of words are estimated from their share of the characters. */
function partsOf(whole: PlacedText, urlAt: (share: number) => string): PlacedText[] {
  const { text, x, width } = whole;
  const parts: PlacedText[] = [];
  for (const { 0: word, index } of text.matchAll(/\s*\S+\s*/g)) {
    const isLeader = /^[\s.·…]+$/.test(word);
    const url = isLeader ? '' : urlAt((index + word.length / 2) / text.length);
    const length = (word.length / text.length) * width;
    const last = parts.at(-1);
    if (last?.url === url) {
      last.text += word;
      last.width += length;
    } else parts.push({ ...whole, text: word, x: x + (index / text.length) * width, width: length, url });
  }
  return parts;
}

function meets(area: Box, { bottom, top }: Box): boolean {
  return area.bottom < Math.max(bottom, top) + 1 && area.top > Math.min(bottom, top) - 1;
}

function linkAt(u: number, v: number, angle: number, links: Annotations['links']): string {
  const [x, y] = turnPoint(u, v, (360 - angle) % 360);
  return links.find((area) => area.x <= x && x <= area.right && area.bottom <= y && y <= area.top)?.url ?? '';
}
