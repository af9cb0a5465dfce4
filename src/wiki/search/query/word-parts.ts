import { PREFIX_END, reverseText } from '@ibid/markdown/analysis/document-terms.ts';
import { STOP_WORDS } from '@ibid/markdown/analysis/stop-words.ts';
import { isUnspaced, termOf } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { wordsBetween } from '../index/vocabulary.ts';
import type { ParsedQuery } from './parse-query.ts';
import { addToCache, cached } from './postings/posting-cache.ts';
import { readIndex, recallIndex } from './postings/read-index.ts';
import type { ResolvedQuery } from './resolve-query.ts';

/** With fewer hits than this, words that contain a word of the query are searched for too. */
const FEW = 10;
/** Longer queries have other words that find documents. */
const MAX_WORDS = 3;
/** Shorter words occur inside too many others. */
const MIN_LETTERS = 4;
const MAX_FOUND = 20;
/** Each part is also looked for in the texts of hits, to mark it. */
const MAX_PARTS = 10;
/** Maximum number of vocabulary blocks, of about 50 words each, to scan for words that contain a word. */
const MAX_BLOCKS = 2_000;
const MAX_PENDING = 64;

/**
 * Adds words of the wiki that contain a word of the query, if few documents match: "roadmap" and "crossroads" for
 * "road".
 */
export async function withParts(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  resolved: ResolvedQuery,
): Promise<ResolvedQuery> {
  const { data, ranking, words, isRecalled } = resolved;
  const isNarrowed = ranking.required.length + query.phrases.length > 0;
  if (isNarrowed || words.length > MAX_WORDS || resolved.mistyped.size > 0) return resolved;
  if ([...ranking.terms.keys()].some((term) => (data.terms.get(term)?.documents ?? 0) >= FEW)) return resolved;
  const known = new Set([...ranking.terms.keys(), ...query.excluded]);
  const asked = [...new Set(words.map(({ word }) => word))].filter(isAsked);
  const found = await wordsContaining(many, index, asked, data.state);
  const parts = [...new Set(found.map(termOf))].filter((term) => !known.has(term)).slice(0, MAX_PARTS);
  if (parts.length === 0) return resolved;
  const needed = [
    ...new Set([...ranking.required.flat(), ...query.excluded, ...(ranking.equal === '' ? [] : [ranking.equal])]),
  ];
  const all = [...ranking.terms.keys(), ...parts];
  const again = isRecalled ? recallIndex(index, data.view, all, needed) : undefined;
  const reread = again ?? (await readIndex(many, index, all, needed));
  return { ...resolved, data: reread, ranking: { ...ranking, parts }, isRecalled: again !== undefined };
}

function isAsked(word: string): boolean {
  return word.length >= MIN_LETTERS && /^\p{L}[\p{L}\p{M}]*$/u.test(word) && !isUnspaced(word) && !STOP_WORDS.has(word);
}

/** Returns indexed words that contain any of the words. The result is cached for the current state of the index. */
async function wordsContaining(
  many: Statements['many'],
  index: Index,
  words: readonly string[],
  state: string | undefined,
): Promise<string[]> {
  if (words.length === 0) return [];
  const name = `parts ${state} ${words.join(' ')}`;
  const known = state === undefined ? undefined : cached<string[]>(index, name);
  if (known) return known;
  const { wiki_id, kind } = index;
  const between = (column: string, isBackwards = false) =>
    wordsBetween(index, raw(column), sql`${raw(column)} || ${PREFIX_END}`, isBackwards);
  const rows = await many<{ word: string }>(sql`
    select found.word
    from unnest(${words}::text[], ${words.map(reverseText)}::text[]) u (word, backwards)
    cross join lateral (
      (select w.word from (${between('u.word')}) w where w.word <> u.word limit ${MAX_FOUND})
      union all
      (select w.word from (${between('u.backwards', true)}) w where w.word <> u.word limit ${MAX_FOUND})
      union all
      (select p.word from (
          select v.words from search_vocabulary v
          where v.wiki_id = ${wiki_id} and v.kind = ${kind} and not v.is_backwards limit ${MAX_BLOCKS}
        ) v cross join string_to_table(v.words, ' ') p (word)
        where position(u.word in v.words) > 0 and position(u.word in p.word) > 0 and p.word <> u.word limit ${MAX_FOUND})
      union all
      (select l.word from search_words l
        where l.wiki_id = ${wiki_id} and l.kind = ${kind} and position(u.word in l.word) > 0 and l.word <> u.word limit ${MAX_FOUND})
      union all
      (select f.word from (
          select p.vocabulary from search_pending p where p.wiki_id = ${wiki_id} and p.kind = ${kind} limit ${MAX_PENDING}
        ) p cross join string_to_table(p.vocabulary, ' ') f (word)
        where position(u.word in f.word) > 0 and f.word <> u.word limit ${MAX_FOUND})
    ) found`);
  // The shortest words are most similar to the query.
  const found = [...new Set(rows.map(({ word }) => word))].sort((one, other) => one.length - other.length);
  if (state !== undefined) addToCache(index, name, found, 40 * found.length + name.length);
  return found;
}
