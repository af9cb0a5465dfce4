import { foldText, isUnspaced, type Token, termOf, tokenGroups, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import { PARTICLES } from './correct-words.ts';

/** A name of connected words, such as "NODE_ENV". */
export interface Name {
  /** The term of the whole name. */
  term: string;
  /** The words of the name. */
  parts: Token[];
}

/** Names that end in signs which separate words elsewhere: C++, C#. */
const SIGNED_NAME = /[\p{L}\p{N}](?:\+\+|#)$/u;

/** Returns the names that end in signs, folded. */
export function signedNamesIn(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => SIGNED_NAME.test(word))
    .map(foldText);
}

/**
 * Returns the names of connected words in a text that look like code: "NODE_ENV", "C++", "--save-dev". Omits words with
 * hyphens, which other texts write as separate words.
 */
export function namesIn(text: string): Name[] {
  return [...tokenGroups(text)].flatMap((parts) => {
    const [first] = parts;
    const extra = parts.flatMap((part) => part.extra.filter(({ kind }) => kind === 'joined'));
    if (!first || extra.length === 0) return [];
    const isOption = text.slice(0, first.start).endsWith('--');
    const isCode = parts.every(({ end }, i) => i === parts.length - 1 || !HYPHEN.test(text[end] ?? ''));
    // The only part of a hexadecimal number is the number itself.
    const isNumber = parts.length === 1 && first.word.startsWith('0x');
    return (isCode || isOption) && !isNumber ? extra.map(({ term }) => ({ term, parts: [...parts] })) : [];
  });
}

const HYPHEN = /[-‐‑'’]/;

/** Longer queries are questions, in which adjacent words are seldom one name. */
const MAX_JOINED_WORDS = 6;

/**
 * Returns the terms of adjacent words joined into one ("wi fi": "wifi"). Skips pairs with a stop word ("a part"),
 * except a particle in second place ("log in").
 */
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
