import { hash } from 'node:crypto';
import { type ContextChange, type ContextKeys, changesOfContext } from '@ibid/markdown/blocks/block-context.ts';
import { MARKS, withoutBeside, withoutDrawn, wordsOfForm } from '@ibid/markdown/blocks/block-form.ts';
import { compareTargets, meantTarget, targetOf } from '@ibid/markdown/blocks/block-targets.ts';
import { readPageText } from '@ibid/markdown/page-text.ts';
import { parseShownHtml } from '@ibid/markdown/shown-html.ts';
import { diffWordsWithSpace } from 'diff';

/** A block of a page as its HTML shows it now. */
export interface PageBlock {
  /** Which element of the page it is, from 0; -1 for text outside of elements. */
  element: number;
  text: string;
  form: string;
  /** As of a CompiledBlock. */
  context: ContextKeys;
  targets: readonly string[];
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
  /** What it stood in; "" where that was not kept. */
  context: ContextKeys;
  /** Where its links led and which pictures it showed; undefined where that was not kept. */
  targets: readonly string[] | undefined;
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
  /** Of one that says the same, what of its context is another. */
  context: ContextChange[];
}

/** The blocks of a page, to be compared with. */
export interface ShownPage {
  text: string;
  blocks: readonly PageBlock[];
  /** What each block is found by: the SHA-256 of its form, or its words. */
  keysBy: (kind: FormKind) => readonly string[];
}

/** The blocks of a page, from its HTML as it is stored; its addresses are relative to `folder`. */
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

/** What the blocks of a page are found by. */
const KEYS: Record<FormKind, (form: string) => string> = {
  words: plainForm,
  undrawn: (form) => hash('sha256', withoutDrawn(form)),
  alone: (form) => hash('sha256', withoutBeside(form)),
  whole: (form) => hash('sha256', form),
};

/**
 * Which blocks of a page still say what was compiled: those whose form is the same, whole, each block of the page for one
 * compiled block, whose pictures are the same, and none of whose links leads elsewhere. Of the others the block is named that was
 * edited, if one between the neighbors has words of it. `meant`: as `meantTarget`; null: targets are not compared.
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
 * For each compiled block the block of the same form; of several the first that is left for it, in order, but before that one with
 * the same targets in the same context, and one with the same targets.
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
      // Blocks of other kinds of forms may have taken it meanwhile.
      while (place !== undefined && taken.has(place)) place = all?.pop();
      if (place === undefined) continue;
      found[i] = place;
      taken.add(place);
    }
  }
  return found;
}

/** The places of the blocks that are left, by what they are found by, the first one last. */
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
