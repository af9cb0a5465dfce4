import { wordsOf } from '../page/lines.ts';
import type { PdfBlock, Place } from '../pdf-block.ts';

/** The beginning of a picture's caption in common languages: a keyword with a number or letter. */
const CAPTION =
  /^\s*(?:fig(?:ures?|uras?|\.|s\.)?|abb(?:ildung(?:en)?|\.)|bild|figur|afbeelding|image|illustration|photo(?:graph)?|plate|chart|diagram|scheme|exhibit|rys(?:unek|\.)|рис(?:унок|\.)|ábra|図|图|圖|그림)\s*(?:[\dA-Z]\p{L}?\b|[IVX]+\b)/iu;

/** The largest distance between a picture and its caption, in points. */
const NEAR_POINTS = 40;
/** Pictures in a row differ in height by less than this, in points. */
const LEVEL_POINTS = 5;

/**
 * Joins pictures with their captions: a picture shares a paragraph with the caption below it, else with the caption
 * above it, so that they stay together. Pictures in a row share a caption. Texts keep their order.
 */
export function joinCaptions(blocks: readonly PdfBlock[]): PdfBlock[] {
  const pictures = blocks.filter(({ kind }) => kind === 'picture');
  if (pictures.length === 0) return [...blocks];
  const captions = Map.groupBy(
    blocks.filter((block) => block.kind === 'text' && !block.level && CAPTION.test(wordsOf(block.runs))),
    ({ places }) => places[0]?.page ?? 0,
  );
  const captioned = new Map<PdfBlock, PdfBlock>();
  for (const picture of pictures) {
    const caption = captionOf(picture, captions.get(picture.places[0]?.page ?? 0) ?? []);
    if (caption) captioned.set(picture, caption);
  }
  const withOwn = [...captioned];
  for (const picture of pictures) {
    if (captioned.has(picture)) continue;
    const [, caption] = withOwn.find(([other]) => areBeside(other, picture)) ?? [];
    if (caption) captioned.set(picture, caption);
  }
  const byCaption = Map.groupBy(
    pictures.filter((picture) => captioned.has(picture)),
    (picture) => captioned.get(picture),
  );
  return blocks
    .filter((block) => !captioned.has(block))
    .map((block) => {
      const own = byCaption.get(block);
      if (!own) return block;
      return { ...block, pictures: own, places: [...block.places, ...own.flatMap(({ places }) => places)] };
    });
}

/** Whether pictures form a row, with tops and bottoms at the same heights. */
function areBeside({ places: [one] }: PdfBlock, { places: [other] }: PdfBlock): boolean {
  if (!one || !other || one.page !== other.page) return false;
  const difference = Math.max(Math.abs(one.top - other.top), Math.abs(one.bottom - other.bottom));
  return difference < LEVEL_POINTS && Math.max(one.x - other.right, other.x - one.right) < NEAR_POINTS;
}

/** Returns the nearest caption below a picture, else above it. */
function captionOf({ places: [picture] }: PdfBlock, captions: readonly PdfBlock[]): PdfBlock | undefined {
  if (!picture) return undefined;
  const nearest = (gapOf: (place: Place) => number) => {
    const near = captions.flatMap((caption) => {
      const [place] = caption.places;
      if (!place || !sharesColumn(place, picture)) return [];
      const gap = gapOf(place);
      return gap > -0.5 * caption.size && gap < NEAR_POINTS ? [{ caption, gap }] : [];
    });
    return near.sort((a, b) => a.gap - b.gap)[0]?.caption;
  };
  return nearest(({ top }) => picture.bottom - top) ?? nearest(({ bottom }) => bottom - picture.top);
}

function sharesColumn(place: Place, picture: Place): boolean {
  return Math.min(place.right, picture.right) > Math.max(place.x, picture.x);
}
