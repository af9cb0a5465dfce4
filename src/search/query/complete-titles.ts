import type { Statements } from '../../access/guard.ts';
import { PREFIX_END, readCounts, TITLE_WORD_PREFIX } from '../../analysis/document-terms.ts';
import { tokenize } from '../../analysis/tokenize.ts';
import { sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import { readBlocks } from '../index/postings.ts';
import type { Candidate } from './rank.ts';

/** How many words are read that begin with the last one, in alphabetical order. */
const MAX_COMPLETIONS = 200;
/** How many words before the last one are looked up. */
const MAX_WORDS = 8;

interface Row {
  term: string | null;
  postings: Buffer | null;
  document_id: string | null;
  document_no: number | null;
  title_terms: string | null;
}

/**
 * Documents whose titles contain all words; the last one may be incomplete. Titles that begin with the words and short
 * titles come first. Uses the keys of search_postings, which hold the unstemmed words of titles. Returns at most `most`
 * documents.
 */
export async function completeTitles(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  text: string,
  most: number,
): Promise<Candidate[]> {
  const typed = [...new Set([...tokenize(text)].map(({ word }) => word))].slice(-MAX_WORDS);
  const last = TITLE_WORD_PREFIX + (typed.at(-1) ?? '');
  const whole = typed.slice(0, -1).map((word) => TITLE_WORD_PREFIX + word);
  const rows = await many<Row>(sql`
    (select p.term, p.postings, null::text as document_id, null::int as document_no, null::text as title_terms
      from search_postings p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term >= ${last} and p.term < ${last + PREFIX_END}
        and ${typed.length > 0}
      order by p.term limit ${MAX_COMPLETIONS})
    union all
    select p.term, p.postings, null, null, null from search_postings p
    where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term = any (${whole}::text[])
    union all
    select null, null, w.document_id, d.document_no, case when position(${` ${last}`} in w.title_terms) > 0 then w.title_terms end
    from (
      select distinct on (p.document_id) p.document_id, p.title_terms from search_pending p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.title_terms is not null order by p.document_id, p.version desc
    ) w
    left join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_id = w.document_id`);

  const byWord = new Map<string, Map<number, number>>([...whole, last].map((word) => [word, new Map()]));
  const written = new Set<number>();
  const candidates: Candidate[] = [];
  for (const { term, postings, document_id, document_no, title_terms } of rows) {
    if (document_id !== null) {
      if (document_no !== null) written.add(document_no);
      const words = [...readCounts(title_terms ?? '').keys()];
      const holdsAll = words.some((word) => word.startsWith(last)) && whole.every((word) => words.includes(word));
      if (holdsAll) candidates.push({ document_no: -1, document_id, score: 255 / words.length });
    } else if (term !== null && postings !== null) {
      for (const word of [...(whole.includes(term) ? [term] : []), ...(term.startsWith(last) ? [last] : [])]) {
        const found = byWord.get(word);
        readBlocks(postings, (no, impact) => found?.set(no, Math.max(found.get(no) ?? 0, impact)));
      }
    }
  }
  for (const [no, impact] of byWord.get(last) ?? []) {
    const others = whole.map((word) => byWord.get(word)?.get(no));
    if (written.has(no) || others.includes(undefined)) continue;
    const score = others.reduce<number>((sum, other) => sum + (other ?? 0), impact) / (1 + whole.length);
    candidates.push({ document_no: no, document_id: '', score });
  }
  return candidates.sort((a, b) => b.score - a.score || a.document_no - b.document_no).slice(0, most);
}
