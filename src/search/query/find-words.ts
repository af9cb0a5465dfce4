import { BEGINNING, beginningOf } from '../../analysis/stem.ts';
import { foldText, isUnspaced, runAt, termOf, tokenize } from '../../analysis/tokenize.ts';

/** An occurrence of a term in a text, in UTF-16 units. */
export interface Match {
  term: string;
  start: number;
  end: number;
}

const LETTER = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that write articles and prepositions before a word, so that a stem may be inside of it. */
const PREFIXED = /[\p{sc=Arabic}\p{sc=Hebrew}]/u;
/** How many letters these are. */
const MAX_PREFIX = 4;

/** The number of occurrences of one term that are enough to choose a passage. */
const MAX_MATCHES_PER_TERM = 50;
/** If the prefix search finds nothing, this much of the text is tokenized. */
const MAX_FALLBACK_CHARACTERS = 10_000;

/**
 * The occurrences of terms in a text, in order. A prefix search finds most of them without tokenizing the whole text.
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

/** Where a text that is folded letter by letter has the beginning of a word, in any spelling of it. */
export function* placesOf(folded: string, beginning: string): Generator<number> {
  for (const spelling of spellingsOf(beginning)) {
    for (let at = folded.indexOf(spelling); at >= 0; at = folded.indexOf(spelling, at + 1)) yield at;
  }
}

/** Letters that are folded to two, and so keep their place in a text. */
const LIGATURES = ['ß', 'œ', 'æ', 'þ'].map((letter) => [letter, foldText(letter)] as const);

const spellings = new Map<string, ReadonlySet<string>>();
const MAX_KEPT_SPELLINGS = 5_000;

/** The same words are looked for in each of the texts of a search. */
function spellingsOf(beginning: string): ReadonlySet<string> {
  let known = spellings.get(beginning);
  if (known === undefined) {
    known = new Set([beginning, ...LIGATURES.map(([letter, letters]) => beginning.replaceAll(letters, letter))]);
    if (spellings.size >= MAX_KEPT_SPELLINGS) spellings.clear();
    spellings.set(beginning, known);
  }
  return known;
}

/** The start of the word with a stem at this place; undefined if the stem is further inside of it. */
export function startOfWord(folded: string, at: number): number | undefined {
  for (let start = at; start >= 0 && start >= at - MAX_PREFIX; start -= 1) {
    if (start === 0 || !LETTER.test(folded[start - 1] as string)) return start;
    if (!PREFIXED.test(folded[at] as string)) return undefined;
  }
  return undefined;
}

/**
 * A common prefix of all words with this stem: the stem's last letter may differ from the word's ("happi" of "happy").
 */
export function stemPrefix(term: string): string {
  return /^[a-z]{4,}$/.test(term) ? term.slice(0, -1) : term;
}

const foldedCharacters = new Map<string, string>();

/** Folds each character by itself, so that offsets stay the same. */
export function foldInPlace(text: string): string {
  const lower = text.toLowerCase();
  const same = lower.length === text.length ? lower : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the range of ASCII
  return same.replace(/[^\x00-\x7f]/g, (character) => {
    let folded = foldedCharacters.get(character);
    if (folded === undefined) {
      folded = foldText(character);
      if (folded.length !== 1) folded = character;
      foldedCharacters.set(character, folded);
    }
    return folded;
  });
}
