import { readCounts } from '@ibid/markdown/analysis/document-terms.ts';
import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import { tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import type { FoundRow } from './postings/found-blocks.ts';
import { NOTHING_FOUND, parseWanted, readPostingsCtes } from './postings/read-postings.ts';
import { hiddenIn, NO_VIEW, type ViewRow, viewColumns } from './postings/seen-documents.ts';
import type { Candidate } from './rank.ts';

/** Maximum number of words to look up, counted from the end. */
const MAX_WORDS = 8;

/** The name under which words beginning with the last one are requested. */
const LAST = 'last';

interface Row extends FoundRow, ViewRow {
  document_id: string | null;
  document_no: number | null;
  title_terms: string | null;
}

/**
 * Finds documents whose titles contain all words; the last word may be incomplete. Titles that begin with the words and
 * short titles come first. Looks up the unstemmed words of titles by the keys of search_blocks. Returns at most `most`
 * documents.
 */
export async function completeTitles(
  many: Statements['many'],
  index: Index,
  text: string,
  most: number,
): Promise<Candidate[]> {
  const { wiki_id, kind } = index;
  const typed = [...new Set([...tokenize(text)].map(({ word }) => word))].slice(-MAX_WORDS);
  const last = TITLE_WORD_PREFIX + (typed.at(-1) ?? '');
  const whole = typed.slice(0, -1).map((word) => TITLE_WORD_PREFIX + word);
  const wanted = [
    ...whole.map((word) => parseWanted(word)),
    ...(typed.length > 0 ? [{ name: LAST, text: last, isPrefix: true, isNeeded: true }] : []),
  ];
  const { steps, termsOf } = readPostingsCtes(index, wanted);
  const rows = await many<Row>({
    ...steps,
    waiting: sql`
      select distinct on (p.document_id) p.document_id, p.title_terms from search_pending p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.title_terms is not null order by p.document_id, p.version desc`,
    result: sql`
      select f.*, null::text as document_id, null::int as document_no, null::text as title_terms, ${NO_VIEW} from found f
      union all
      select ${NOTHING_FOUND}, w.document_id, d.document_no, case when position(${` ${last}`} in w.title_terms) > 0 then w.title_terms end, ${NO_VIEW}
      from waiting w
      left join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_id = w.document_id
      union all
      select ${NOTHING_FOUND}, null, null, null, ${viewColumns(index)}`,
  });
  const hidden = hiddenIn(index, rows);
  const written = new Set<number>();
  const candidates: Candidate[] = [];
  for (const { document_id, document_no, title_terms } of rows) {
    if (document_id === null) continue;
    if (document_no !== null) written.add(document_no);
    const words = [...readCounts(title_terms ?? '').keys()];
    const holdsAll = words.some((word) => word.startsWith(last)) && whole.every((word) => words.includes(word));
    if (holdsAll && !hidden.ids.has(document_id))
      candidates.push({ document_no: -1, document_id, score: 255 / words.length });
  }
  const terms = termsOf(rows);
  const impactsBy = (name: string) => {
    const { numbers = [], impacts = [] } = terms.get(name)?.postings ?? {};
    return new Map([...numbers].map((no, i) => [no, impacts[i] as number]));
  };
  const others = whole.map(impactsBy);
  for (const [no, impact] of impactsBy(LAST)) {
    const found = others.map((other) => other.get(no));
    if (written.has(no) || hidden.numbers.has(no) || found.includes(undefined)) continue;
    const score = found.reduce<number>((sum, other) => sum + (other ?? 0), impact) / (1 + whole.length);
    candidates.push({ document_no: no, document_id: '', score });
  }
  return candidates.sort((a, b) => b.score - a.score || a.document_no - b.document_no).slice(0, most);
}
