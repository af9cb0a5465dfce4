import type { Query } from '../../../platform/db/db.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from './pending.ts';

/** About 50 words. A look-up splits one or two blocks into words. */
const BLOCK_BYTES = 450;

/**
 * Loose words are packed if there are more than both limits; the second is about a sixteenth of all words. So a word is
 * rewritten about sixteen times, and few words are loose, which takes ten times the space of a packed word.
 */
const MAX_LOOSE = 250;
const MAX_LOOSE_OF_A_BLOCK = 3;

/**
 * Maximum number of words that this process remembers as indexed, over all wikis. Most words of a text occur in earlier
 * texts, and words are never removed from an index.
 */
const MAX_KNOWN = 50_000;
const known = new Map<string, Set<string>>();
let knownWords = 0;

/**
 * Adds the words of merged documents. `loose`: the number of rows in search_words, null if unknown. Returns the new
 * number. The caller holds the lock of the index.
 */
export async function addWords(
  query: Query,
  index: Index,
  words: readonly string[],
  loose: number | null,
): Promise<number> {
  const { wiki_id, kind } = index;
  const added = await unknownOf(query, index, words);
  if (loose === null || (await isTooMany(query, index, loose + added.length))) {
    await packWords(query, index, added);
    return 0;
  }
  if (added.length > 0) {
    await query(sql`
      insert into search_words (wiki_id, kind, word, backwards)
      select ${wiki_id}, ${kind}, w.word, reverse(w.word) from unnest(${added}::text[]) w (word)`);
  }
  return loose + added.length;
}

/** Returns the words that an index does not have yet. */
async function unknownOf(query: Query, index: Index, words: readonly string[]): Promise<string[]> {
  const key = `${index.wiki_id} ${index.kind}`;
  const before = known.get(key);
  const others = before ? words.filter((word) => !before.has(word)) : words;
  if (others.length === 0) return [];
  const rows = await query<{ word: string }>(
    (await isSoonRead(query, index, others.length)) ? wordsNotIndexed(index, others) : notFound(index, others),
  );
  const unknown = new Set(rows.map(({ word }) => word));
  // Do not cache the words to be added: the transaction may roll back.
  const found = others.filter((word) => !unknown.has(word)).slice(0, MAX_KNOWN);
  if (knownWords + found.length > MAX_KNOWN) {
    known.clear();
    knownWords = 0;
  }
  known.set(key, new Set([...(known.get(key) ?? []), ...found]));
  knownWords += found.length;
  return [...unknown];
}

/** Whether reading the whole vocabulary is cheaper than this many look-ups of one block each. */
async function isSoonRead(query: Query, index: Index, words: number): Promise<boolean> {
  return words > MAX_LOOSE && words > (await blocksOf(query, index));
}

function notFound(index: Index, words: readonly string[]): Sql {
  return sql`select w.word from unnest(${words}::text[]) w (word) where not ${hasWord(index, raw('w.word'))}`;
}

/**
 * Uses `except`, because PostgreSQL hashes or sorts for it even if it misestimates the rows of the array and the text.
 */
function wordsNotIndexed({ wiki_id, kind }: Index, words: readonly string[]): Sql {
  return sql`
    select w.word from unnest(${words}::text[]) w (word)
    except (
      select p.word from search_vocabulary v cross join string_to_table(v.words, ' ') p (word)
      where v.wiki_id = ${wiki_id} and v.kind = ${kind} and not v.is_backwards
      union all
      select l.word from search_words l where l.wiki_id = ${wiki_id} and l.kind = ${kind})`;
}

async function blocksOf(query: Query, { wiki_id, kind }: Index): Promise<number> {
  const [packed] = await query<{ blocks: number }>(sql`
    select count(*)::int as blocks from search_vocabulary where wiki_id = ${wiki_id} and kind = ${kind} and not is_backwards`);
  return packed?.blocks ?? 0;
}

async function isTooMany(query: Query, index: Index, loose: number): Promise<boolean> {
  return loose > MAX_LOOSE && loose > MAX_LOOSE_OF_A_BLOCK * (await blocksOf(query, index));
}

/** Rewrites all blocks, including the loose words and `added`. */
async function packWords(query: Query, { wiki_id, kind }: Index, added: readonly string[]): Promise<void> {
  await query(sql`
    with loose as (
      delete from search_words where wiki_id = ${wiki_id} and kind = ${kind} returning word
    ), packed as (
      delete from search_vocabulary where wiki_id = ${wiki_id} and kind = ${kind} returning is_backwards, words
    ), forwards as (
      select l.word from loose l
      union
      select a.word from unnest(${added}::text[]) a (word)
      union
      select w.word from packed p cross join string_to_table(p.words, ' ') w (word) where not p.is_backwards and w.word <> ''
    ), each_way as (
      select false as is_backwards, word from forwards
      union all
      select true, reverse(word) from forwards
    ), placed as (
      select *, sum(octet_length(word) + 1) over (partition by is_backwards order by word) / ${BLOCK_BYTES} as block from each_way
    )
    insert into search_vocabulary (is_backwards, wiki_id, kind, first, words)
    select is_backwards, ${wiki_id}, ${kind}, min(word), ' ' || string_agg(word, ' ' order by word) || ' '
    from placed group by is_backwards, block`);
}

/** SQL condition: whether an index has a word. */
export function hasWord({ wiki_id, kind }: Index, word: Sql): Sql {
  return sql`(
    exists (
      select from (
        select block.words from search_vocabulary block
        where block.wiki_id = ${wiki_id} and block.kind = ${kind} and not block.is_backwards and block.first <= ${word}
        order by block.first desc limit 1
      ) block where position(' ' || ${word} || ' ' in block.words) > 0)
    or exists (select from search_words loose where loose.wiki_id = ${wiki_id} and loose.kind = ${kind} and loose.word = ${word}))`;
}

/**
 * Selects the words of an index (column `word`) that are at least `from` and less than `until`. If `isBackwards`,
 * compares the reversed words with both.
 */
export function wordsBetween({ wiki_id, kind }: Index, from: Sql, until: Sql, isBackwards = false): Sql {
  const way = raw(isBackwards ? 'v.is_backwards' : 'not v.is_backwards');
  const column = raw(isBackwards ? 'w.backwards' : 'w.word');
  return sql`
    select w.word from search_words w
    where w.wiki_id = ${wiki_id} and w.kind = ${kind} and ${column} >= ${from} and ${column} < ${until}
    union all
    select ${raw(isBackwards ? 'reverse(p.word)' : 'p.word')} from (
      (select v.words from search_vocabulary v
        where v.wiki_id = ${wiki_id} and v.kind = ${kind} and ${way} and v.first < ${from} order by v.first desc limit 1)
      union all
      (select v.words from search_vocabulary v
        where v.wiki_id = ${wiki_id} and v.kind = ${kind} and ${way} and v.first >= ${from} and v.first < ${until})
    ) v cross join string_to_table(v.words, ' ') p (word)
    where p.word >= ${from} and p.word < ${until}`;
}
