import { type CitedPlace, placesOf } from '@ibid/documents/cite-blocks.ts';
import { extractorVersion } from '@ibid/documents/extractor-versions.ts';
import { formatByName } from '@ibid/documents/formats/formats.ts';
import { FORM_VERSION } from '@ibid/markdown/blocks/block-form.ts';
import { isOfFile } from '@ibid/markdown/blocks/block-targets.ts';
import type { CitationRow } from '../records/cited-blocks.ts';
import { type Finding, finding } from './findings.ts';
import type { ReadAgain, ReadPart } from './reread-file.ts';

/** The citations of a source by one page. `file` is the name of the file that the page was compiled from. */
type CitingRow = CitationRow & { file: string };

/** Data that was stored with a page; earlier releases stored less. */
interface Kept {
  forms: boolean;
  boxes: boolean;
}

const MESSAGE = 'the places or hashes of its blocks do not match the file';

/** Compares the stored citation ranges and hashes of a page with those found by re-reading the file. */
export function checkPlaces(
  row: CitingRow,
  source: { filename: string; extractor_version: number },
  reading: ReadAgain,
): Finding[] {
  const altered = [finding('citations_altered', MESSAGE, row.page_id)];
  // The same bytes under another file type (LICENSE.md, LICENSE.txt) have another text; such a page cites nothing.
  const isOther = formatByName(row.file)?.kind !== formatByName(source.filename)?.kind;
  if (row.starts.length === 0 && isOther) return [];
  if (row.extractor_version > source.extractor_version) {
    return [
      finding(
        'record_altered',
        'it was compiled by a later version of the extractor than the version that read the file',
        row.page_id,
      ),
    ];
  }
  const isOld =
    row.form_blocks === null ||
    row.extractor_version === 0 ||
    row.form_version !== FORM_VERSION ||
    row.contexts === null ||
    row.targets === null ||
    row.target_blocks === null;
  const isOfNow = source.extractor_version === extractorVersion(reading.kind);
  // Pages compiled by the current version have all of this data.
  if (isOfNow && (isOld || row.extractor_version !== source.extractor_version)) return altered;
  const stored = placesOf({
    ...row,
    form_blocks: row.form_blocks ?? [],
    boxes: row.boxes ?? [],
    contexts: row.contexts ?? '',
    target_blocks: row.target_blocks ?? [],
    targets: row.targets ?? [],
  });
  // Forms include markup, which another version may produce differently for the same words.
  const kept = { forms: isOfNow, boxes: isOfNow || row.boxes !== null };
  const isSame = reading.parts.some((part) => isPageOf(part, stored, kept));
  return isSame ? [] : altered;
}

/**
 * Whether a page has all blocks of `part` in order, followed only by links to parts below it, with the words of their
 * headings.
 */
function isPageOf({ places, below }: ReadPart, stored: readonly CitedPlace[], kept: Kept): boolean {
  if (keysOf(stored.slice(0, places.length), kept) !== keysOf(places, kept)) return false;
  const headings = new Set(below.map((place) => keyOf(place, { ...kept, forms: false })));
  return stored.slice(places.length).every((place) => headings.has(keyOf(place, { ...kept, forms: false })));
}

function keysOf(places: readonly CitedPlace[], kept: Kept): string {
  return places.map((place) => keyOf(place, kept)).join();
}

function keyOf(place: CitedPlace, kept: Kept): string {
  const { start, end, pages, boxes, lines, hash, form_hash, context, targets } = place;
  const ranges = [pages?.first_page, pages?.last_page, lines?.first_line, lines?.last_line];
  const form = kept.forms ? [form_hash, context, ...targets.filter(isOfFile)] : [];
  return [start, end, ...ranges, hash, ...form, ...(kept.boxes ? boxes : [])].join(' ');
}

/**
 * Checks whether all blocks of a split document are cited. Reports nothing while some pages of the document are
 * missing.
 */
export function openPartCheck(reading: ReadAgain) {
  const cited = new Set<string>();
  let pages = 0;
  return {
    add({ starts, ends }: CitingRow): void {
      pages += 1;
      for (const [i, start] of starts.entries()) cited.add(`${start} ${ends[i]}`);
    },
    findings(): Finding[] {
      const isWhole = reading.parts.length > 1 && pages >= reading.parts.length;
      const isCited = ({ start, end }: CitedPlace) => cited.has(`${start} ${end}`);
      if (!isWhole || reading.parts.every(({ places }) => places.every(isCited))) return [];
      return [finding('citations_altered', 'no page cites some blocks of the file, although all its pages exist')];
    },
  };
}
