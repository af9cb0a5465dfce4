import { Type } from 'typebox';
import { type Token, tokenize } from '../../analysis/tokenize.ts';
import { OFFSET_PAGING } from '../../core/paging.ts';

/** `query`, `limit` and `offset` of both searches. Any text is a valid query. */
export const SearchQuery = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: 'Words, of which any may match; "…" is a phrase, -word excludes, title:word asks for it in the title.',
  }),
  ...OFFSET_PAGING,
});

/** A parsed query. Everything that is not a phrase, an exclusion or a title is a word, and any word may match. */
export interface ParsedQuery {
  /** The words to search for, including those of phrases and titles; stop words only if there are no others. */
  words: Token[];
  /** The words of each phrase, which have to be adjacent. */
  phrases: string[][];
  /** The terms of each exclusion; a document that contains all terms of one is excluded. */
  excluded: string[][];
  /** The terms that the title has to contain. */
  titles: string[];
  /** The query itself, to compare with titles. */
  text: string;
}

const PHRASE = /(title:)?"([^"]*)"/giu;

export function parseQuery(text: string): ParsedQuery {
  const phrases: string[] = [];
  const titles: string[] = [];
  const rest = text.replace(PHRASE, (_, title: string | undefined, phrase: string) => {
    (title === undefined ? phrases : titles).push(phrase);
    return ' ';
  });
  const excluded: string[] = [];
  const words: string[] = [];
  for (const word of rest.split(/\s+/u)) {
    if (/^-[^\s-]/u.test(word)) excluded.push(word.slice(1));
    else if (/^title:./iu.test(word)) titles.push(word.slice(6));
    else words.push(word);
  }
  const all = [...tokenize([...words, ...phrases, ...titles].join(' '))];
  const significant = all.filter(({ isStopWord }) => !isStopWord);
  const wordsOf = (part: string) => [...tokenize(part)].map(({ word }) => word);
  const termsOf = (part: string) => [...new Set([...tokenize(part)].map(({ term }) => term))];
  return {
    words: significant.length > 0 ? significant : all,
    phrases: phrases.map(wordsOf).filter((phrase) => phrase.length > 0),
    excluded: excluded.map(termsOf).filter((terms) => terms.length > 0),
    titles: [...new Set(titles.flatMap(termsOf))],
    text: text.trim(),
  };
}
