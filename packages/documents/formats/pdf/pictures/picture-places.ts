import type { PdfBlock, Place } from '../pdf-block.ts';

/** A picture and its place. */
export interface ShownPicture {
  address: string;
  place: Place;
}

/** Blocks whose tops differ by less than this, in points, are in adjacent columns. */
const SIDE_BY_SIDE_POINTS = 40;

/**
 * Inserts pictures between blocks: each in front of the block below it, usually its caption, or else after the block
 * above it. The blocks and their order do not change.
 */
export function insertPictures(blocks: readonly PdfBlock[], pictures: readonly ShownPicture[]): PdfBlock[] {
  const byPage = placesByPage(blocks);
  const before = blocks.map((): ShownPicture[] => []);
  before.push([]);
  const downwards = [...pictures].sort(({ place: a }, { place: b }) => a.page - b.page || b.top - a.top || a.x - b.x);
  for (const picture of downwards) before[indexFor(picture.place, blocks, byPage)]?.push(picture);
  return before.flatMap((shown, i) => [...shown.map(pictureBlock), ...blocks.slice(i, i + 1)]);
}

/** A place of a block; `isFirst`: the block begins at this place. */
interface BlockPlace extends Place {
  index: number;
  isFirst: boolean;
}

function placesByPage(blocks: readonly PdfBlock[]): ReadonlyMap<number, BlockPlace[]> {
  const byPage = new Map<number, BlockPlace[]>();
  for (const [index, { places }] of blocks.entries()) {
    for (const [i, place] of places.entries()) {
      const onPage = byPage.get(place.page) ?? [];
      byPage.set(place.page, onPage);
      onPage.push({ ...place, index, isFirst: i === 0 });
    }
  }
  return byPage;
}

/** Returns the index of the block to insert a picture in front of. */
function indexFor(
  picture: Place,
  blocks: readonly PdfBlock[],
  byPage: ReadonlyMap<number, readonly BlockPlace[]>,
): number {
  const onPage = byPage.get(picture.page) ?? [];
  const inColumn = onPage.filter((place) => sharesColumn(place, picture));
  const middle = (picture.top + picture.bottom) / 2;
  const isBelow = (place: Place) => (place.top + place.bottom) / 2 < middle;
  const near = inColumn.length > 0 ? inColumn : onPage;
  const below = near.filter(isBelow);
  const top = Math.max(...below.map((place) => place.top));
  const next = below.find((place) => place.top > top - SIDE_BY_SIDE_POINTS);
  // Do not split a paragraph that continues below the picture.
  if (next) return next.isFirst ? next.index : next.index + 1;
  const last = near.at(-1);
  if (last) return last.index + 1;
  const later = blocks.findIndex(({ places }) => (places[0]?.page ?? 0) > picture.page);
  return later < 0 ? blocks.length : later;
}

function sharesColumn(place: Place, picture: Place): boolean {
  const shared = Math.min(place.right, picture.right) - Math.max(place.x, picture.x);
  return shared > 0.2 * Math.min(place.right - place.x, picture.right - picture.x);
}

function pictureBlock({ address, place }: ShownPicture): PdfBlock {
  return { kind: 'picture', runs: [{ text: '', url: address }], rows: [], size: 0, isFull: false, places: [place] };
}
