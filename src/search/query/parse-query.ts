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

/** What a query asks for. Everything that is no phrase, exclusion or title is words, of which any may match. */
export interface ParsedQuery {
  /** The words to look for, also those of phrases and titles: none that says nothing, unless there is no other. */
  words: Token[];
  /** The words of each phrase, which have to stand together. */
  phrases: string[][];
  /** The terms of each excluded word; a document that holds all of one's is not found. */
  excluded: string[][];
  /** The terms that have to be in the title. */
  titles: string[];
  /** As it might be the title of a page. */
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
  const telling = all.filter(({ isStopWord }) => !isStopWord);
  const wordsOf = (part: string) => [...tokenize(part)].map(({ word }) => word);
  const termsOf = (part: string) => [...new Set([...tokenize(part)].map(({ term }) => term))];
  return {
    words: telling.length > 0 ? telling : all,
    phrases: phrases.map(wordsOf).filter((phrase) => phrase.length > 0),
    excluded: excluded.map(termsOf).filter((terms) => terms.length > 0),
    titles: [...new Set(titles.flatMap(termsOf))],
    text: text.trim(),
  };
}
