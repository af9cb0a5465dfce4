import { turnBox } from './page/frames.ts';
import type { PdfPage } from './page/page.ts';
import type { PdfBlock, Place } from './pdf-block.ts';

/** The limit of rectangles for a paragraph, item or row; it has one for each column that it spans. */
const PLACES_MAX = 4;

/** The depth of letters below the baseline, in font sizes. */
const DESCENT = 0.25;

/** The limit of a page's sides, in points; PDF has a lower one. */
const POINTS_MAX = 2 ** 20;

/** Converts places to rectangles as in PageRange. */
export type BoxesOf = (block: PdfBlock, places?: readonly Place[]) => number[];

export function shownBoxes(pages: readonly PdfPage[]): BoxesOf {
  return ({ size, places: all }, places = all) =>
    places.slice(0, PLACES_MAX).flatMap((place) => {
      const page = pages[place.page - 1];
      return page ? [place.page, ...shownBox({ ...place, bottom: place.bottom - DESCENT * size }, page)] : [];
    });
}

/** Converts a place to coordinates of the displayed page: left, top, right, bottom, rounded outwards. */
function shownBox(place: Place, { angle, view, rotate }: PdfPage): number[] {
  const box = turnBox(turnBox(place, (360 - angle) % 360), rotate);
  const shown = turnBox(view, rotate);
  const [wide, high] = [shown.right - shown.x, shown.top - shown.bottom];
  const within = (value: number, most: number) => Math.min(Math.max(value || 0, 0), Math.ceil(most) || 0, POINTS_MAX);
  return [
    within(Math.floor(box.x - shown.x), wide),
    within(Math.floor(shown.top - box.top), high),
    within(Math.ceil(box.right - shown.x), wide),
    within(Math.ceil(shown.top - box.bottom), high),
  ];
}
