import { hash } from 'node:crypto';
import { diffWordsWithSpace } from 'diff';
import { MARKS, withoutBeside, withoutDrawn, wordsOfForm } from '../markdown/block-form.ts';
import { readPageText } from '../markdown/page-text.ts';
import { parseShownHtml } from '../markdown/shown-html.ts';

/** A block of a page as its HTML shows it now. */
export interface PageBlock {
  /** Which element of the page it is, from 0; -1 for text outside of elements. */
  element: number;
  text: string;
  form: string;
}

/**
 * What forms of the time have that a page was compiled in, so that those of before stay valid: `words` alone; without marks of what a
 * browser draws (`undrawn`); without what stands elsewhere (`alone`); or all of it (`whole`).
 */
export type FormKind = 'words' | 'undrawn' | 'alone' | 'whole';

/** What was compiled of a source, to be looked for in a page. */
export interface CompiledBlock {
  quote: string;
  /** The SHA-256 of its form, 64 hexadecimal digits; "" where its page was compiled before forms were kept. */
  form_sha256: string;
  /** What its form has: see FormKind. */
  form_kind: FormKind;
}

/** A segment of what the source says (same, removed) and what the page says instead (same, added). */
export interface Change {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** What became of a compiled block. */
export interface ShownBlock {
  shown: 'unchanged' | 'edited' | 'removed';
  /** The block of the page: that says the same, or what it was edited to. */
  block: PageBlock | undefined;
}

/** The blocks of a page, to be compared with. */
export interface ShownPage {
  text: string;
  blocks: readonly PageBlock[];
  /** The places of the blocks by the SHA-256 of their forms, or by their words. */
  placesBy: (kind: FormKind) => ReadonlyMap<string, readonly number[]>;
}

/** The blocks of a page, from its HTML as it is stored. */
export function readShownPage(html: string): ShownPage {
  const { text, blocks: ranges } = readPageText(parseShownHtml(html));
  const blocks = ranges.map(({ start, end, element, form }) => ({ element, text: text.slice(start, end), form }));
  const known = new Map<FormKind, Map<string, number[]>>();
  const placesBy = (kind: FormKind) => {
    const places = known.get(kind) ?? Map.groupBy(blocks.keys(), (i) => KEYS[kind](blocks[i]?.form ?? ''));
    known.set(kind, places);
    return places;
  };
  return { text, blocks, placesBy };
}

/** What the blocks of a page are found by. */
const KEYS: Record<FormKind, (form: string) => string> = {
  words: plainForm,
  undrawn: (form) => hash('sha256', withoutDrawn(form)),
  alone: (form) => hash('sha256', withoutBeside(form)),
  whole: (form) => hash('sha256', form),
};

/**
 * Which blocks of a page still say what was compiled: those whose form is the same, whole, each block of the page for one
 * compiled block. Of the others the block is named that was edited, if one between the neighbors has words of it.
 */
export function compareBlocks(compiled: readonly CompiledBlock[], page: ShownPage): ShownBlock[] {
  const found = findUnchanged(compiled, page);
  const edited = findEdited(compiled, page.blocks, found);
  return compiled.map((_, i) => {
    const block = page.blocks[found[i] ?? edited.get(i) ?? -1];
    return { shown: found[i] !== undefined ? 'unchanged' : block ? 'edited' : 'removed', block };
  });
}

/** For each compiled block the block that says the same; of several the first that is left for it, in order. */
function findUnchanged(compiled: readonly CompiledBlock[], page: ShownPage): (number | undefined)[] {
  const taken = new Map<string, number>();
  return compiled.map(({ quote, form_sha256, form_kind }) => {
    const key = form_kind === 'words' ? plainForm(quote.normalize('NFC')) : form_sha256;
    const count = taken.get(key) ?? 0;
    taken.set(key, count + 1);
    return page.placesBy(form_kind).get(key)?.[count];
  });
}

/** Of a page that was compiled before forms were kept the words are compared: nothing in them may be struck or raised. */
function plainForm(form: string): string {
  return withoutDrawn(form)
    .replaceAll(MARKS.cell, '')
    .replace(/[\ufdd5-\ufdd7]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Comparing each block of a gap with each other one costs the square of it. */
const COMPARISONS_MAX = 5_000;
const WORDS_MAX = 300;

/** The share of words that two texts have in common, from which on one is seen as an edited form of the other. */
const SIMILAR = 0.4;

/** For compiled blocks that are not there any more the blocks that they were edited to, in the gaps between what is. */
function findEdited(
  compiled: readonly CompiledBlock[],
  blocks: readonly PageBlock[],
  found: readonly (number | undefined)[],
): Map<number, number> {
  const isTaken = new Set(found);
  const edited = new Map<number, number>();
  const next = nextFound(found, blocks.length);
  const wordsOf = cached((block: PageBlock) => wordCounts(wordsOfForm(block.form)));
  let left = COMPARISONS_MAX;
  let after = -1;
  for (const [i, { quote }] of compiled.entries()) {
    const place = found[i];
    if (place !== undefined) {
      after = place;
      continue;
    }
    let best = SIMILAR;
    const words = wordCounts(quote);
    for (let at = after + 1; at < (next[i] ?? 0) && left > 0; at += 1) {
      const block = blocks[at];
      if (isTaken.has(at) || !block) continue;
      left -= 1;
      const likeness = likenessOf(words, wordsOf(block));
      if (likeness <= best) continue;
      best = likeness;
      edited.set(i, at);
    }
    const chosen = edited.get(i);
    if (chosen !== undefined) after = chosen;
  }
  return edited;
}

/** For each place the block that the next compiled block behind it was found in, or else the end. */
function nextFound(found: readonly (number | undefined)[], end: number): number[] {
  const next: number[] = [];
  let last = end;
  for (let i = found.length - 1; i >= 0; i -= 1) {
    last = found[i] ?? last;
    next[i] = last;
  }
  return next;
}

function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.split(/\s+/, WORDS_MAX)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** The share of words that are in both, from 0 to 1. */
function likenessOf(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0;
  for (const [word, count] of a) common += Math.min(count, b.get(word) ?? 0);
  const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
  return (2 * common) / Math.max(1, sum(a) + sum(b));
}

function cached<T extends object, R>(compute: (of: T) => R): (of: T) => R {
  const known = new WeakMap<T, R>();
  return (of) => {
    const result = known.get(of) ?? compute(of);
    known.set(of, result);
    return result;
  };
}

/** In longer blocks, and with more edits, comparing words costs more than it tells. */
const CHARACTERS_MAX = 5_000;
const EDITS_MAX = 100;

/**
 * The words that differ between what the source says and what a block of the page says now. Where only something else
 * than words differs (what is raised, the cell of a word), all of both. `budget` is the number of characters that may
 * be compared; it is used up, and behind it all of both differs.
 */
export function changesOf(quote: string, { form }: PageBlock, budget: { characters: number }): Change[] {
  const now = wordsOfForm(form);
  const length = quote.length + now.length;
  const isCompared = length <= Math.min(CHARACTERS_MAX, budget.characters);
  if (isCompared) budget.characters -= length;
  const parts = isCompared ? diffWordsWithSpace(quote, now, { maxEditLength: EDITS_MAX }) : undefined;
  if (parts?.some(({ added, removed, value }) => (added || removed) && value.trim() !== '')) {
    return parts.map(({ added, removed, value }) => ({
      kind: added ? 'added' : removed ? 'removed' : 'same',
      text: value,
    }));
  }
  const all: Change[] = [
    { kind: 'removed', text: quote },
    { kind: 'added', text: now },
  ];
  return all.filter(({ text }) => text !== '');
}
