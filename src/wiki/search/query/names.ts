import { foldText, isUnspaced, type Token, termOf, tokenGroups, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import { PARTICLES } from './correct-words.ts';

/** A name of connected words. */
export interface Name {
  /** The term of the name as a whole. */
  term: string;
  /** The words that it is made of. */
  parts: Token[];
}

/** Signs that separate words elsewhere are part of a name at its end: C++, C#. */
const SIGNED_NAME = /[\p{L}\p{N}](?:\+\+|#)$/u;

/** The names of a text that signs are part of, folded. */
export function signedNamesIn(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => SIGNED_NAME.test(word))
    .map(foldText);
}

/**
 * The names of connected words in a text that are those of code: "NODE_ENV", "C++", "--save-dev". Not words with hyphens, which
 * others write apart.
 */
export function namesIn(text: string): Name[] {
  return [...tokenGroups(text)].flatMap((parts) => {
    const [first] = parts;
    const extra = parts.flatMap((part) => part.extra.filter(({ kind }) => kind === 'joined'));
    if (!first || extra.length === 0) return [];
    const isOption = text.slice(0, first.start).endsWith('--');
    const isCode = parts.every(({ end }, i) => i === parts.length - 1 || !HYPHEN.test(text[end] ?? ''));
    // A hexadecimal number is its own only part.
    const isNumber = parts.length === 1 && first.word.startsWith('0x');
    return (isCode || isOption) && !isNumber ? extra.map(({ term }) => ({ term, parts: [...parts] })) : [];
  });
}

const HYPHEN = /[-‐‑'’]/;

/** A longer query is a question, in which neighbours are seldom one name. */
const MAX_JOINED_WORDS = 6;

/** What neighbouring words are as one. Not with a stop word before ("a part"), or behind, unless it is one of those of "log in". */
export function joinedTerms(text: string): string[] {
  const tokens = [...tokenize(text)];
  if (tokens.length > MAX_JOINED_WORDS) return [];
  return tokens.flatMap((second, i) => {
    const first = tokens[i - 1];
    if (!first || text.slice(first.end, second.start) !== ' ' || first.isStopWord) return [];
    if (second.isStopWord && !PARTICLES.includes(second.word)) return [];
    const isName = !isUnspaced(first.word) && !isUnspaced(second.word) && /\p{L}/u.test(first.word + second.word);
    return isName && second.word.length > (first.word.length > 1 ? 1 : 2) ? [termOf(first.word + second.word)] : [];
  });
}
