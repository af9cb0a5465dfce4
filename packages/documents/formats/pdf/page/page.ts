import type { PDFPageProxy } from 'unpdf/pdfjs';
import { countCharacters, type Loss } from '../../losses.ts';
import { composeAccents } from './accents.ts';
import { type Annotations, type Destinations, readAnnotations } from './annotations.ts';
import { normalizeText } from './characters.ts';
import { fixedFonts } from './fixed-fonts.ts';
import { angleOf, type Box, turnBox } from './frames.ts';
import { boxOf, type Line, linesOf } from './lines.ts';
import type { RestoreLigatures } from './lost-ligatures.ts';
import { type PlacedText, placedTexts, type TextItem } from './placed-texts.ts';
import type { UnreadableFonts } from './readable-fonts.ts';
import { stackedTexts } from './stacked-texts.ts';
import { tagsOf } from './tagged-texts.ts';
import type { TaggedElement } from './tags.ts';

/** The lines of a page; lengths in points. */
export interface PdfPage {
  /** The object number of the page in the PDF; 0 if the page cannot be read. */
  object: number;
  /** The angle of most of the text. `lines` and `box` are rotated so that this text runs from left to right. */
  angle: number;
  box: Box;
  /** The visible part of the page in its own coordinates, and its display rotation, clockwise in degrees. */
  view: Box;
  rotate: number;
  lines: Line[];
  /** The elements of a tagged PDF in order; empty if too little of the page is tagged. */
  elements: readonly TaggedElement[];
  /** The texts of `lines`, for table detection by ruled lines; empty if the page is not searched for them. */
  tabular: readonly PlacedText[];
  /** Text at other angles, such as axis labels, each group in its own frame. */
  turned: TurnedLines[];
  /** The number of characters in text operators and form fields, in UTF-16 units without white space. */
  characters: number;
  losses: Loss[];
}

export interface TurnedLines {
  angle: number;
  lines: Line[];
}

/** Returns an empty page in place of an unreadable one. */
export function unreadPage(number: number): PdfPage {
  const box = { x: 0, right: 0, bottom: 0, top: 0 };
  return {
    object: 0,
    angle: 0,
    box,
    view: box,
    rotate: 0,
    lines: [],
    elements: [],
    tabular: [],
    turned: [],
    characters: 0,
    losses: [lossOn(number, { kind: 'page_unreadable' })],
  };
}

export function lossOn(page: number, loss: Pick<Loss, 'kind'> & Partial<Loss>): Loss {
  return { first_page: page, last_page: page, place: '', count: 1, characters: 0, excerpt: '', ...loss };
}

/** The number of lines from which a page has margins. */
const TEXT_LINES = 10;

/** The number of pages, from the first, to search for ruled lines, which takes as long as reading their text. */
const TABULAR_PAGES = 500;

/** The minimum length of a stamp in the margin, in UTF-16 units; shorter text is a label. */
const STAMP = 25;

interface PageOptions {
  unreadableOn: UnreadableFonts;
  restoreLigatures: RestoreLigatures | undefined;
  isTagged: boolean;
  destinations: Destinations;
}

/** Reads a page. Throws the error of PDF.js if the page is damaged. */
export async function readPage(
  page: PDFPageProxy,
  { unreadableOn, restoreLigatures, isTagged, destinations }: PageOptions,
): Promise<PdfPage> {
  const [x = 0, bottom = 0, right = 0, top = 0] = page.view;
  const view = { x, right, bottom, top };
  const { items, styles } = await page.getTextContent({ disableNormalization: false, includeMarkedContent: isTagged });
  await restoreLigatures?.(
    page,
    items.filter((item): item is TextItem & typeof item => 'str' in item),
  );
  const tags = isTagged ? await tagsOf(page, items) : undefined;
  const texts = items.filter((item): item is TextItem & typeof item => 'str' in item && item.str.trim() !== '');
  composeAccents(texts);
  const annotations = await readAnnotations(page, destinations).catch(() => damagedAnnotations(page.pageNumber));
  const unreadable = await unreadableOn(page, texts);
  const fixed = fixedFonts(texts, styles);
  const stacked = stackedTexts(texts);
  const lost = { count: 0, excerpt: '' };
  const angles = new Map<number, { texts: PlacedText[]; characters: number }>();
  const drawn = new Map<string, Set<number>>();
  let characters = 0;
  for (const item of texts) {
    // The text was an accent, now combined with its letter.
    if (item.str === '' || isDrawnTwice(item, drawn)) continue;
    const length = countCharacters(item.str);
    characters += length;
    if (unreadable.has(item.fontName)) {
      lost.count += length;
      continue;
    }
    const normal = normalizeText(item.str);
    lost.count += normal.unreadable;
    const isVertical = stacked.has(item) || (styles[item.fontName]?.vertical ?? false);
    const angle = angleOf(item.transform, isVertical);
    const group = angles.get(angle) ?? { texts: [], characters: 0 };
    angles.set(angle, group);
    group.characters += length;
    const element = tags?.byItem.get(item);
    const fixedFont = fixed.has(item.fontName) ? item.fontName : undefined;
    for (const text of placedTexts(item, normal.text, angle, annotations, isVertical)) {
      group.texts.push({ ...text, element, fixedFont });
    }
  }
  for (const field of annotations.fields) {
    const length = countCharacters(field.text);
    characters += length;
    const group = angles.get(0) ?? { texts: [], characters: 0 };
    angles.set(0, group);
    group.characters += length;
    const { text } = normalizeText(field.text);
    const width = Math.min(field.right - field.x, 0.5 * field.size * text.length);
    group.texts.push({ text, x: field.x + 2, y: field.bottom, width, size: field.size, url: '', rtl: false });
  }
  page.cleanup();
  const losses = [...annotations.losses];
  if (lost.count > 0) losses.push(lossOn(page.pageNumber, { kind: 'unreadable_text', characters: lost.count }));
  const groups = [...angles]
    .sort((one, other) => other[1].characters - one[1].characters)
    .map(([angle, group]) => ({ angle, texts: group.texts, lines: linesOf(group.texts) }));
  const { angle, texts: main, lines } = groups[0] ?? { angle: 0, texts: [], lines: [] };
  const turned = groups.slice(1).filter((group) => {
    if (!isInMargin(group, { angle, lines })) return true;
    const excerpt = group.lines.map(({ words }) => words).join(' ');
    const stamp = { kind: 'printers_mark', characters: countCharacters(excerpt), excerpt } as const;
    losses.push(lossOn(page.pageNumber, stamp));
    return false;
  });
  return {
    object: page.ref?.num ?? 0,
    angle,
    box: turnBox(view, angle),
    view,
    rotate: page.rotate,
    lines,
    elements: tags?.elements ?? [],
    tabular: !tags && page.pageNumber <= TABULAR_PAGES ? main : [],
    turned,
    characters,
    losses,
  };
}

/** Whether it is a single long line outside of all text on the page, such as an archive stamp. */
function isInMargin({ angle, lines }: TurnedLines, text: TurnedLines): boolean {
  if (lines.length !== 1 || text.lines.length < TEXT_LINES || (lines[0]?.words.length ?? 0) < STAMP) return false;
  const stamp = turnBox(turnBox(boxOf(lines), (360 - angle) % 360), text.angle);
  const box = boxOf(text.lines);
  return stamp.right <= box.x || stamp.x >= box.right || stamp.top <= box.bottom || stamp.bottom >= box.top;
}

/** Returns a loss for annotations that cannot be read, so that the page's text is still read. */
function damagedAnnotations(number: number): Annotations {
  const loss = lossOn(number, { kind: 'damaged_part', place: 'links, notes and form fields' });
  return { links: [], fields: [], losses: [loss] };
}

/** Whether the same text was drawn at the same place before; some programs draw bold type and shadows this way. */
function isDrawnTwice({ str, transform, height, width }: TextItem, drawn: Map<string, Set<number>>): boolean {
  const step = 0.05 * Math.max(height, width / str.length, 1);
  const key = (column: number, row: number) => 2 ** 20 * column + row;
  const [column, row] = [Math.round((transform[4] ?? 0) / step), Math.round((transform[5] ?? 0) / step)];
  const places = drawn.get(str);
  if (!places) {
    drawn.set(str, new Set([key(column, row)]));
    return false;
  }
  for (const i of [-1, 0, 1]) {
    for (const k of [-1, 0, 1]) if (places.has(key(column + i, row + k))) return true;
  }
  places.add(key(column, row));
  return false;
}
