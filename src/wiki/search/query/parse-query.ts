import { foldText, type Token, termOf, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import { type Filter, type FilterField, readFilter } from './filters.ts';
import { joinedTerms, type Name, namesIn, signedNamesIn } from './names.ts';

/** Number of UTF-16 units of a query that are read. */
export const QUERY_CHARACTERS = 1_024;

/**
 * With more words than this outside its phrases, a query is a question that happens to contain quotes: its phrases only
 * raise the scores of documents that contain them.
 */
const SHORT_QUERY_WORDS = 4;

/** A parsed query: words, any of which may match, and conditions. Any text is a valid query. */
export interface ParsedQuery {
  /** The words to search for, including the words of phrases and titles; stop words only if there are no others. */
  words: Token[];
  /** Adjacent words joined into one, because many names are written both ways: "filename" for "file name". */
  joined: string[];
  /** Names of connected words, such as "NODE_ENV" and "C++". */
  names: Name[];
  /** The words of each phrase, which must be adjacent and in this order. */
  phrases: string[][];
  /** Names in phrases that end in signs ("c++"), folded. */
  literals: string[];
  /** Whether a document must contain the phrases; otherwise they raise its score. */
  arePhrasesRequired: boolean;
  /** Whether there are words to search for if no document contains the phrases. */
  hasOtherWords: boolean;
  /**
   * Lists of terms: a document must contain all terms of at least one list. If there is no list, any word may match.
   */
  required: string[][];
  /** Terms that a document must not contain. */
  excluded: string[];
  /** Phrases that a document must not contain. */
  excludedPhrases: ExcludedPhrase[];
  /** Terms that the title must contain. */
  titles: string[];
  /** Lists of terms: documents whose title contains all terms of a list are excluded. */
  excludedTitles: string[][];
  filters: Filter[];
  /** The query without its operators, which is compared with titles. */
  text: string;
}

interface ExcludedPhrase {
  words: string[];
  /** The folded spelling, if the words alone are not specific enough: "c++". */
  literal: string | undefined;
}

/** A part of the query between spaces, or between quotes. */
interface Item {
  sign: '' | '-' | '+';
  /**
   * The known field before the colon, in lower case: `title` for `Title:word`. "" if there is none; an unknown field
   * stays in `text`.
   */
  field: string;
  text: string;
  isQuoted: boolean;
  /** Whether an exclusion has quotes, a field or NOT, and so cannot be an option of a command. */
  isExplicit: boolean;
  /** Index of its operand of OR. */
  part: number;
}

/** Quotes of all scripts. Quotes of the first kind may be mixed, as people and word processors do. */
const QUOTED = [
  '["“”„‟＂〝〞〟][^"“”„‟＂〝〞〟]*["“”„‟＂〝〞〟]',
  '«[^«»]*»',
  '»[^«»]*«',
  '‹[^‹›]*›',
  '›[^‹›]*‹',
  '「[^「」]*」',
  '『[^『』]*』',
].join('|');
const SIGN = '[-–−+]';
const ITEM = new RegExp(`(${SIGN}?)(?:(\\p{L}+):)?(${QUOTED})|[^\\s(「『][^\\s「『]*`, 'gu');
const SIGNED = new RegExp(`^(${SIGN})([^\\s\\-–−+].*)$`, 'u');
/** An option of a command (`-la`, `-v`), or a negative number. */
const OPTION = /^(?:[A-Za-z]{1,2}|\d.*)$/;

/** Truncates a query at a word, or at least at a whole character. */
export function readableQuery(text: string): string {
  if (text.length <= QUERY_CHARACTERS) return text;
  const cut = text.slice(0, QUERY_CHARACTERS);
  const space = cut.search(/\s\S{0,64}$/u);
  return space > 0 ? cut.slice(0, space) : cut.replace(/[\ud800-\udbff]$/, '');
}

/** Parses a query. `title`: further words that the title must contain; `more`: further filters. */
export function parseQuery(given: string, title = '', more: readonly Filter[] = []): ParsedQuery {
  const text = readableQuery(given);
  const items = withOperators(itemsOf(text));
  if (title !== '') items.push(itemOf('', 'title', title, true));
  const filters: Filter[] = [...more];
  const others = items.filter((item) => {
    const filter =
      item.field === 'title' || item.field === '' ? undefined : readFilter(item.field as FilterField, item.text);
    if (filter) filters.push({ ...filter, isExcluded: item.sign === '-' });
    // Anything that only resembles an operator is treated as text.
    else if (item.field !== 'title' && item.field !== '') item.text = `${item.field}:${item.text}`;
    return filter === undefined;
  });
  const isTitle = ({ field }: Item) => field === 'title';
  const positive = others.filter(({ sign }) => sign !== '-');
  const negative = others.filter(({ sign }) => sign === '-');
  const quoted = positive.filter((item) => item.isQuoted && !isTitle(item));
  const phrases = quoted.map((item) => wordsOf(item.text));
  const words = significant([...tokenize(positive.map((item) => item.text).join(' '))]);
  const plain = positive.filter((item) => !item.isQuoted && !isTitle(item));
  const otherWords = plain.flatMap((item) => significantOnly([...tokenize(item.text)]));
  const excluded = negative.filter((item) => !isTitle(item)).map(excludedPhraseOf);
  // "cat -cats" excludes another form of a searched word.
  const isForm = (word = '') => words.some((token) => token.term === termOf(word) && token.word !== word);
  const isWord = ({ words: [word], words: { length }, literal }: ExcludedPhrase) =>
    length === 1 && (literal === undefined || literal === word) && !isForm(word);
  const hasOperators = items.some(({ sign, field, isQuoted }) => sign !== '' || field !== '' || isQuoted);
  const unquoted = plain.map((item) => item.text).join(' ');
  return {
    words,
    joined: joinedTerms(unquoted),
    names: namesIn(unquoted),
    literals: quoted.flatMap(({ text }) => signedNamesIn(text)),
    phrases: phrases.filter((phrase) => phrase.length > 0),
    arePhrasesRequired: otherWords.length <= SHORT_QUERY_WORDS,
    hasOtherWords: otherWords.length > 0,
    required: requiredOf(positive),
    excluded: excluded.filter(isWord).flatMap(({ words: [word = ''] }) => [...tokenize(word)].map(({ term }) => term)),
    excludedPhrases: excluded.filter((phrase) => phrase.words.length > 0 && !isWord(phrase)),
    titles: [...new Set(positive.filter(isTitle).flatMap((item) => termsOf(item.text)))],
    excludedTitles: negative
      .filter(isTitle)
      .map((item) => termsOf(item.text))
      .filter((terms) => terms.length > 0),
    filters,
    text: hasOperators ? positive.map((item) => item.text).join(' ') : text.trim(),
  };
}

function itemsOf(text: string): Item[] {
  return [...text.matchAll(ITEM)].map(([run, sign = '', field = '', quoted]) => {
    const isQuoted = quoted !== undefined;
    if (isQuoted) return itemOf(sign, field, quoted.slice(1, -1), true);
    const [, mark = '', rest = run] = SIGNED.exec(run) ?? [];
    const [, name, value] = /^(\p{L}+):(.+)$/u.exec(rest) ?? [];
    if (name === undefined || value === undefined) return itemOf(mark, '', rest, false);
    return itemOf(mark, name, value, false);
  });
}

const FIELDS: ReadonlySet<string> = new Set<'title' | FilterField>([
  'title',
  'in',
  'path',
  'author',
  'tag',
  'created',
  'updated',
  'status',
  'type',
]);

function itemOf(mark: string, name: string, text: string, isQuoted: boolean): Item {
  const sign = mark === '' || mark === '+' ? mark : '-';
  const field = FIELDS.has(name.toLowerCase()) ? name.toLowerCase() : '';
  const isText = name !== '' && field === '';
  return {
    sign,
    field,
    // An unknown field is a word in front of the value.
    text: isText ? `${name}:${text}` : text,
    isQuoted: isQuoted && !isText,
    isExplicit: isQuoted || field !== '',
    part: 0,
  };
}

/** Removes AND, OR and NOT and applies their meaning. At the start or end of a query they are words. */
function withOperators(items: readonly Item[]): Item[] {
  // "chmod +x" is code too.
  const plus = items.filter(({ sign, isExplicit, text }) => sign === '+' && !isExplicit && OPTION.test(text));
  for (const item of plus) Object.assign(item, { sign: '', text: `+${item.text}` });
  const minus = items.filter(({ sign, isExplicit }) => sign === '-' && !isExplicit);
  // Code begins with an option, or all its words with a minus look like options.
  const isCode = minus.includes(items[0] as Item) || minus.every(({ text }) => OPTION.test(text));
  for (const item of minus) if (isCode) Object.assign(item, { sign: '', text: `-${item.text}` });
  const isOperator = (at: number, word: string) => {
    const item = items[at];
    return item?.text === word && !item.isQuoted && item.sign === '' && item.field === '';
  };
  const isBetween = (at: number) => at > 0 && at < items.length - 1;
  const kept: Item[] = [];
  let part = 0;
  for (const [at, item] of items.entries()) {
    const next = items[at + 1];
    if (isOperator(at, 'NOT') && next) Object.assign(next, { sign: '-', isExplicit: true });
    else if (isOperator(at, 'OR') && isBetween(at)) part += 1;
    else if (isOperator(at, 'AND') && isBetween(at)) {
      const before = kept.at(-1);
      if (before && before.sign === '') before.sign = '+';
      if (next && next.sign === '' && !isOperator(at + 1, 'NOT')) next.sign = '+';
    } else kept.push(Object.assign(item, { part }));
  }
  return kept;
}

/** Returns the terms that `+` and AND require, as one list for each operand of OR. */
function requiredOf(items: readonly Item[]): string[][] {
  if (!items.some(({ sign }) => sign === '+')) return [];
  const parts = new Map<number, Item[]>();
  for (const item of items) parts.set(item.part, [...(parts.get(item.part) ?? []), item]);
  const lists = [...parts.values()].flatMap((part) => {
    const required = part.filter(({ sign }) => sign === '+');
    const terms = (of: readonly Item[]) =>
      significantOnly(of.flatMap(({ text }) => [...tokenize(text)])).map(({ term }) => term);
    // An operand without a required word matches by any of its words.
    return required.length > 0 ? [[...new Set(terms(required))]] : terms(part).map((term) => [term]);
  });
  // Single stop words are not indexed in texts: if an operand requires only stop words, nothing is required.
  return lists.some((terms) => terms.length === 0) ? [] : lists;
}

function excludedPhraseOf({ text }: Item): ExcludedPhrase {
  return { words: wordsOf(text), literal: /[+#]/.test(text) ? foldText(text) : undefined };
}

function significantOnly(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ isStopWord }) => !isStopWord);
}

function significant(tokens: Token[]): Token[] {
  const some = significantOnly(tokens);
  return some.length > 0 ? some : tokens;
}

function wordsOf(text: string): string[] {
  return [...tokenize(text)].map(({ word }) => word);
}

function termsOf(text: string): string[] {
  return [...new Set([...tokenize(text)].map(({ term }) => term))];
}
