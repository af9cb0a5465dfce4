import { BEGINNING, beginningOf } from '@ibid/markdown/analysis/stem.ts';
import { foldText, isUnspaced, runAt, termOf, tokenize } from '@ibid/markdown/analysis/tokenize.ts';

/** An occurrence of a term in a text, in UTF-16 units. */
export interface Match {
  term: string;
  start: number;
  end: number;
}

const LETTER = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that attach articles and prepositions to the next word, so that a stem may start inside a word. */
const PREFIXED = /[\p{sc=Arabic}\p{sc=Hebrew}]/u;
/** Maximum number of such letters in front of a stem. */
const MAX_PREFIX = 4;

/** Occurrences of one term that suffice to choose a passage. */
const MAX_MATCHES_PER_TERM = 50;
/** If the prefix search finds nothing, this many characters of the text are tokenized. */
const MAX_FALLBACK_CHARACTERS = 10_000;

/**
 * Returns the occurrences of terms in a text, in order. A prefix search finds most of them without tokenizing the whole
 * text.
 */
export function findTerms(text: string, terms: ReadonlySet<string>): Match[] {
  const folded = foldInPlace(text);
  const found = new Map<number, Match>();
  for (const term of terms) {
    if (term.startsWith(BEGINNING)) continue;
    const unspaced = isUnspaced(term);
    let places = 0;
    for (const at of placesOf(folded, unspaced ? term : stemPrefix(term))) {
      if (places >= MAX_MATCHES_PER_TERM) break;
      if (unspaced) {
        places += 1;
        found.set(at, { term, start: at, end: at + term.length });
        continue;
      }
      const start = startOfWord(folded, at);
      const run = start === undefined ? '' : runAt(text, start);
      if (start === undefined || run === '' || termOf(foldText(run)) !== term) continue;
      places += 1;
      found.set(start, { term, start, end: start + run.length });
    }
  }
  if (found.size === 0) {
    for (const { term, start, end, extra } of tokenize(text.slice(0, MAX_FALLBACK_CHARACTERS))) {
      const one = [term, ...extra.map((other) => other.term), beginningOf(term) ?? ''].find((other) =>
        terms.has(other),
      );
      if (one !== undefined) found.set(start, { term: one, start, end });
    }
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

/** Yields the offsets in a folded text at which the beginning of a word occurs, in any spelling. */
export function* placesOf(folded: string, beginning: string): Generator<number> {
  for (const spelling of spellingsOf(beginning)) {
    for (let at = folded.indexOf(spelling); at >= 0; at = folded.indexOf(spelling, at + 1)) yield at;
  }
}

/** Letters that fold to two letters; folding in place leaves them unchanged. */
const LIGATURES = ['ß', 'œ', 'æ', 'þ'].map((letter) => [letter, foldText(letter)] as const);

const spellings = new Map<string, ReadonlySet<string>>();
const MAX_KEPT_SPELLINGS = 5_000;

/** Cached, because a search looks for the same words in each text. */
function spellingsOf(beginning: string): ReadonlySet<string> {
  let known = spellings.get(beginning);
  if (known === undefined) {
    known = new Set([beginning, ...LIGATURES.map(([letter, letters]) => beginning.replaceAll(letters, letter))]);
    if (spellings.size >= MAX_KEPT_SPELLINGS) spellings.clear();
    spellings.set(beginning, known);
  }
  return known;
}

/** Returns the start of the word whose stem is at this offset; undefined if the stem starts further inside the word. */
export function startOfWord(folded: string, at: number): number | undefined {
  for (let start = at; start >= 0 && start >= at - MAX_PREFIX; start -= 1) {
    if (start === 0 || !LETTER.test(folded[start - 1] as string)) return start;
    if (!PREFIXED.test(folded[at] as string)) return undefined;
  }
  return undefined;
}

/**
 * Returns a common prefix of all words with this stem: the last letter of the stem may differ from the word ("happi" of
 * "happy").
 */
export function stemPrefix(term: string): string {
  return /^[a-z]{4,}$/.test(term) ? term.slice(0, -1) : term;
}

/** Characters outside ASCII with the few signs and spaces between them, so that a sentence is one run. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the range of ASCII
const OTHER_SCRIPTS = /[^\x00-\x7f]+(?:[ -/]{1,2}[^\x00-\x7f]+)*/g;

/** Folds each character separately, which preserves offsets. */
export function foldInPlace(text: string): string {
  const lower = text.toLowerCase();
  return (lower.length === text.length ? lower : text).replace(OTHER_SCRIPTS, foldRun);
}

/** Cache of folded UTF-16 units; 0 if not computed yet. */
const foldedUnits = new Uint16Array(2 ** 16);
const foldedLetters = new Map<number, string>();
const RUN_MAX = 4_096;

/** Up to this length of a run, an array costs more than it saves. */
const SHORT_RUN = 4;

function foldRun(run: string): string {
  let folded = '';
  if (run.length <= SHORT_RUN) {
    for (let i = 0; i < run.length; i += 1)
      folded += foldedLetters.get(run.charCodeAt(i)) ?? foldLetter(run.charCodeAt(i));
    return folded;
  }
  for (let from = 0; from < run.length; from += RUN_MAX) {
    const units = new Uint16Array(Math.min(RUN_MAX, run.length - from));
    for (let i = 0; i < units.length; i += 1) {
      const unit = run.charCodeAt(from + i);
      if (foldedUnits[unit] === 0) foldLetter(unit);
      units[i] = foldedUnits[unit] as number;
    }
    folded += String.fromCharCode.apply(undefined, units as unknown as number[]);
  }
  return folded;
}

function foldLetter(unit: number): string {
  const letter = String.fromCharCode(unit);
  const folded = unit < 0x80 ? '' : foldText(letter);
  const one = folded.length === 1 ? folded : letter;
  foldedLetters.set(unit, one);
  foldedUnits[unit] = one.charCodeAt(0);
  return one;
}
