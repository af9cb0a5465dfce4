import { hash } from 'node:crypto';
import { type ContextChange, type ContextKeys, changesOfContext } from '@ibid/markdown/blocks/block-context.ts';
import { MARKS, withoutBeside, withoutDrawn, wordsOfForm } from '@ibid/markdown/blocks/block-form.ts';
import { compareTargets, meantTarget, targetOf } from '@ibid/markdown/blocks/block-targets.ts';
import { readPageText } from '@ibid/markdown/page-text.ts';
import { parseShownHtml } from '@ibid/markdown/shown-html.ts';
import { diffWordsWithSpace } from 'diff';

/** A block of a page, read from its HTML. */
export interface PageBlock {
  /** Index of the page's element, from 0; -1 for text outside elements. */
  element: number;
  text: string;
  form: string;
  /** As in CompiledBlock. */
  context: ContextKeys;
  targets: readonly string[];
}

/**
 * The content of a stored form, which depends on the release that compiled the page. Old forms stay valid: `words` has
 * words alone, `undrawn` lacks the marks of formulas and diagrams, `alone` lacks table heads and notes, and `whole` has
 * all of these.
 */
export type FormKind = 'words' | 'undrawn' | 'alone' | 'whole';

/** A block compiled from a source, to be matched with the blocks of a page. */
export interface CompiledBlock {
  quote: string;
  /** The SHA-256 of its form in 64 hexadecimal digits; "" for pages compiled before forms were stored. */
  form_sha256: string;
  form_kind: FormKind;
  /** Keys of the headings above the block and of its place in a list; "" if they were not stored. */
  context: ContextKeys;
  /** Targets of its links and pictures; undefined if they were not stored. */
  targets: readonly string[] | undefined;
}

/** A segment of a diff: `same` and `removed` make up the source text, `same` and `added` the page's text. */
export interface Change {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

export interface ShownBlock {
  shown: 'unchanged' | 'edited' | 'removed';
  /** The matching block of the page, or the block that it was edited to. */
  block: PageBlock | undefined;
  /** Changes of the context of an unchanged block. */
  context: ContextChange[];
}

/** The blocks of a page, with keys for matching them. */
export interface ShownPage {
  text: string;
  blocks: readonly PageBlock[];
  /** Returns the match key of each block: the SHA-256 of its form, or its words. */
  keysBy: (kind: FormKind) => readonly string[];
}

/** Reads the blocks of a page from its stored HTML. Relative links start from `folder`. */
export function readShownPage(html: string, folder = ''): ShownPage {
  const { text, blocks: ranges } = readPageText(parseShownHtml(html));
  const blocks = ranges.map(({ start, end, element, form, context, targets }) => {
    const resolved = targets.map((target) => targetOf(target, folder));
    return { element, text: text.slice(start, end), form, context, targets: resolved };
  });
  const known = new Map<FormKind, string[]>();
  const keysBy = (kind: FormKind) => {
    const keys = known.get(kind) ?? blocks.map(({ form }) => KEYS[kind](form));
    known.set(kind, keys);
    return keys;
  };
  return { text, blocks, keysBy };
}

const KEYS: Record<FormKind, (form: string) => string> = {
  words: plainForm,
  undrawn: (form) => hash('sha256', withoutDrawn(form)),
  alone: (form) => hash('sha256', withoutBeside(form)),
  whole: (form) => hash('sha256', form),
};

/**
 * Compares compiled blocks with a page. A block is unchanged if a block of the page has the same form, the same
 * pictures and no link to another target; each block of the page matches only once. Other blocks are edited if a
 * similar block lies between the neighbors, otherwise removed. `meant` is passed to `meantTarget`; null skips the
 * comparison of targets.
 */
export function compareBlocks(
  compiled: readonly CompiledBlock[],
  page: ShownPage,
  meant: ReadonlyMap<string, string> | null = NOTHING_MEANT,
): ShownBlock[] {
  const places = findSame(compiled, page, meant ?? NOTHING_MEANT);
  const targets = compiled.map((block, i) => {
    const now = page.blocks[places[i] ?? -1]?.targets;
    return block.targets && now && meant ? compareTargets(block.targets, now, meant) : 'same';
  });
  const found = places.map((place, i) => (targets[i] === 'other' ? undefined : place));
  const edited = findEdited(compiled, page.blocks, found);
  return compiled.map(({ context }, i) => {
    const isSame = found[i] !== undefined;
    const block = page.blocks[places[i] ?? edited.get(i) ?? -1];
    if (!isSame || !block) return { shown: block ? 'edited' : 'removed', block, context: [] };
    const changes = context === '' ? [] : changesOfContext(context, block.context);
    return { shown: 'unchanged', block, context: targets[i] === 'added' ? [...changes, 'links'] : changes };
  });
}

const NOTHING_MEANT: ReadonlyMap<string, string> = new Map();

/**
 * Matches each compiled block with an unmatched block of the same form, in page order. Blocks with the same targets and
 * context match first, then blocks with the same targets, then the rest.
 */
function findSame(
  compiled: readonly CompiledBlock[],
  page: ShownPage,
  meant: ReadonlyMap<string, string>,
): (number | undefined)[] {
  const found: (number | undefined)[] = compiled.map(() => undefined);
  const taken = new Set<number>();
  const targetsOf = (targets: readonly string[]) => targets.map((target) => meantTarget(target, meant)).join('\n');
  const rest = [
    ({ targets = [], context }: Pick<CompiledBlock, 'targets' | 'context'>) => `${context}\n${targetsOf(targets)}`,
    ({ targets = [] }: Pick<CompiledBlock, 'targets'>) => targetsOf(targets),
    () => '',
  ];
  for (const restOf of rest) {
    const left = new Map<FormKind, Map<string, number[]>>();
    for (const [i, block] of compiled.entries()) {
      if (found[i] !== undefined) continue;
      const { quote, form_sha256, form_kind } = block;
      const places = left.get(form_kind) ?? leftIn(page, form_kind, taken, restOf);
      left.set(form_kind, places);
      const key = form_kind === 'words' ? plainForm(quote.normalize('NFC')) : form_sha256;
      const all = places.get(`${key}\n${restOf(block)}`);
      let place = all?.pop();
      // Skip blocks that a block of another form kind matched in this round.
      while (place !== undefined && taken.has(place)) place = all?.pop();
      if (place === undefined) continue;
      found[i] = place;
      taken.add(place);
    }
  }
  return found;
}

/** Maps match keys to the indexes of unmatched blocks, in descending order so that pop() returns the first. */
function leftIn(
  { blocks, keysBy }: ShownPage,
  kind: FormKind,
  taken: ReadonlySet<number>,
  restOf: (block: PageBlock) => string,
): Map<string, number[]> {
  const keys = keysBy(kind);
  const places = new Map<string, number[]>();
  for (const [at, block] of [...blocks.entries()].reverse()) {
    if (taken.has(at)) continue;
    const key = `${keys[at]}\n${restOf(block)}`;
    const all = places.get(key);
    if (all) all.push(at);
    else places.set(key, [at]);
  }
  return places;
}

/**
 * Reduces a form to its words, for pages compiled before forms were stored. Marks for struck or raised text stay, so
 * such text does not match.
 */
function plainForm(form: string): string {
  return withoutDrawn(form)
    .replaceAll(MARKS.cell, '')
    .replace(/[\ufdd5-\ufdd7]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Limits the quadratic comparison of all blocks within a gap. */
const COMPARISONS_MAX = 5_000;
const WORDS_MAX = 300;

/** Share of common words above which a block counts as an edited form of another. */
const SIMILAR = 0.4;

/** Finds the edited forms of unmatched compiled blocks, in the gaps between matched blocks. */
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
      const likeness = diceSimilarity(words, wordsOf(block));
      if (likeness <= best) continue;
      best = likeness;
      edited.set(i, at);
    }
    const chosen = edited.get(i);
    if (chosen !== undefined) after = chosen;
  }
  return edited;
}

/** For each compiled block, returns the index of the next matched block of the page, or `end`. */
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

/** Returns the share of common words (Dice coefficient), from 0 to 1. */
function diceSimilarity(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
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

/** Longer blocks and larger diffs are too slow to compare by words, and the result says little. */
const CHARACTERS_MAX = 5_000;
const EDITS_MAX = 100;

/**
 * Diffs the words of a source text and of a block of the page. If no word differs (raised text, another cell), all of
 * both counts as changed. Subtracts the compared characters from `budget`; once it is used up, all of both counts as
 * changed too.
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
