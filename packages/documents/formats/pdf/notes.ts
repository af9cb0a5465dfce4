import { addRun, type Run, wordsOf } from './page/lines.ts';
import type { PdfBlock } from './pdf-block.ts';
import { usualSize } from './usual-size.ts';

/** A note mark: a number that `Line` has raised, or a symbol. */
const MARK = '[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}|[*\u2217†‡]{1,3}';

/** A note begins with its mark, whose number may not be raised there. */
const NOTE = new RegExp(String.raw`^\s*(${MARK}|\d{1,3}[.)]?(?=\s))\s?[\p{L}\p{N}"“(\[]`, 'u');

/** In a text, a mark follows a word or punctuation. */
const MARKS = new RegExp(
  String.raw`(?<=(?<before>[\p{L}\p{N}]{0,4})[\p{P}]?)(?<=\S)(?<!\p{No})(?:${MARK})(?![\p{L}\p{N}*\u2217\u207a\u207b])`,
  'gu',
);

/** After a number, a single letter or a unit of length, a raised number may be an exponent. */
const WITH_EXPONENT = /^(?:\p{L}|[kcmdµn]m|\d+)$/u;

/** Notes are smaller than the text, by this factor at most. */
const SMALLER = 0.95;

interface Mark {
  block: PdfBlock;
  runs: Run[];
  run: Run;
  at: number;
  key: string;
  length: number;
  mayBeExponent: boolean;
}

/**
 * Links note marks to the notes on their page and back, in place. All words stay where they are, because other texts
 * may cite the document's own note numbers. `target`: the first unused target number.
 */
export function linkNotes(blocks: PdfBlock[], target: number): PdfBlock[] {
  const size = SMALLER * usualSize(blocks);
  let next = target;
  for (const onPage of byPage(blocks)) {
    const isNote = (block: PdfBlock) => block.size < size && !block.level && NOTE.test(wordsOf(block.runs));
    const notes = onPage.filter(isNote);
    if (notes.length === 0) continue;
    const marks = onPage.filter((block) => !notes.includes(block)).flatMap(marksOf);
    const links: [Mark, string][] = [];
    for (const [key, [note, ...others]] of Map.groupBy(notes, keyOfNote)) {
      const own = marksFor(key, marks);
      const [first] = own;
      // If two notes share a number, the mark is ambiguous.
      if (!note || !first || others.length > 0) continue;
      links.push(...own.map((mark): [Mark, string] => [mark, `#target-${next}.`]));
      note.targets = [...(note.targets ?? []), next];
      first.block.targets = [...(first.block.targets ?? []), next + 1];
      linkBack(note, `#target-${next + 1}.`);
      next += 2;
    }
    // Iterate backwards, so that earlier offsets stay valid.
    links.sort(([a], [b]) => b.at - a.at);
    for (const [mark, address] of links) linkMark(mark, address);
  }
  return blocks;
}

function byPage(blocks: readonly PdfBlock[]): PdfBlock[][] {
  const pages = new Map<number, PdfBlock[]>();
  for (const block of blocks) {
    for (const page of new Set(block.places.map((place) => place.page))) {
      const onPage = pages.get(page) ?? [];
      pages.set(page, onPage);
      onPage.push(block);
    }
  }
  return [...pages.values()];
}

/** Finds the marks in a text that are not linked yet. */
function marksOf(block: PdfBlock): Mark[] {
  const texts = block.kind === 'table' ? block.rows.flat() : [block.runs];
  return texts.flatMap((runs) =>
    runs
      .filter(({ url }) => url === '')
      .flatMap((run) =>
        [...run.text.matchAll(MARKS)].map(({ 0: mark, index, groups }) => ({
          block,
          runs,
          run,
          at: index,
          key: keyOf(mark),
          length: mark.length,
          mayBeExponent: WITH_EXPONENT.test(groups?.before ?? '') && !/\p{P}/u.test(run.text[index - 1] ?? ''),
        })),
      ),
  );
}

/** Returns all marks of a note; several authors may share a mark. */
function marksFor(key: string, marks: readonly Mark[]): Mark[] {
  const same = marks.filter((mark) => mark.key === key);
  const sure = same.filter(({ mayBeExponent }) => !mayBeExponent);
  if (sure.length === 0) return same.length === 1 ? same : [];
  // A paragraph that continues on another page may refer to that page's note of the same number.
  const isLong = ({ block }: Mark) => block.places.some(({ page }) => page !== block.places[0]?.page);
  return sure.length > 1 && sure.some(isLong) ? [] : sure;
}

function keyOfNote({ runs }: PdfBlock): string {
  return keyOf(NOTE.exec(wordsOf(runs))?.[1] ?? '');
}

function keyOf(mark: string): string {
  return mark.normalize('NFKC').replaceAll('\u2217', '*').replace(/[.)]$/, '');
}

function linkMark({ runs, run, at, length }: Mark, url: string): void {
  const rest = { ...run, text: run.text.slice(at + length) };
  const link = { text: run.text.slice(at, at + length), url };
  run.text = run.text.slice(0, at);
  runs.splice(runs.indexOf(run) + 1, 0, link, ...(rest.text === '' ? [] : [rest]));
}

/** Links the mark at the beginning of a note back to the text. */
function linkBack(note: PdfBlock, url: string): void {
  const [first] = note.runs;
  const [beginning = '', mark = ''] = /^\s*(\S+?)(?=[\s\p{L}"“([]|$)/u.exec(first?.text ?? '') ?? [];
  // The browser writes the numbers of list items.
  if (first?.url !== '' || keyOf(mark) !== keyOfNote(note) || /[.)]$/.test(mark)) return;
  note.kind = 'text';
  const runs: Run[] = [];
  addRun(runs, mark, url);
  addRun(runs, first.text.slice(beginning.length), '');
  note.runs.splice(0, 1, ...runs);
}
