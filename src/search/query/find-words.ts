import { foldText, isUnspaced, termOf, tokenize } from '../../analysis/tokenize.ts';

/** An occurrence of a term in a text, in UTF-16 units. */
export interface Match {
  term: string;
  start: number;
  end: number;
}

const LETTER = /[\p{L}\p{N}\p{M}]/u;
const RUN_AT = /[\p{L}\p{N}\p{M}]+/uy;

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
    const unspaced = isUnspaced(term);
    const beginning = unspaced ? term : stemPrefix(term);
    let places = 0;
    for (
      let at = folded.indexOf(beginning);
      at >= 0 && places < MAX_MATCHES_PER_TERM;
      at = folded.indexOf(beginning, at + 1)
    ) {
      if (unspaced) {
        places += 1;
        found.set(at, { term, start: at, end: at + term.length });
      } else if (at === 0 || !LETTER.test(folded[at - 1] as string)) {
        RUN_AT.lastIndex = at;
        const run = RUN_AT.exec(text)?.[0] ?? '';
        if (termOf(foldText(run)) !== term) continue;
        places += 1;
        found.set(at, { term, start: at, end: at + run.length });
      }
    }
  }
  if (found.size === 0) {
    for (const { term, start, end } of tokenize(text.slice(0, MAX_FALLBACK_CHARACTERS))) {
      if (terms.has(term)) found.set(start, { term, start, end });
    }
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
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
