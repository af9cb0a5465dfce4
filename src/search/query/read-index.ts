import type { Statements } from '../../access/guard.ts';
import { unpackTerms } from '../../analysis/document-terms.ts';
import { BEGINNING } from '../../analysis/stem.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { FIRST_PIVOTS } from '../index/impacts.ts';
import type { Index } from '../index/pending.ts';
import { documentsIn } from '../index/postings.ts';
import { cachedPostings, cachePostings } from './posting-cache.ts';
import type { IndexData, PendingDocument } from './rank.ts';

/**
 * A query reads the postings of its rarest terms up to this size (about 200,000 postings), which limits the cost of a
 * query of a thousand common words.
 */
const MAX_BYTES_READ = 600_000;
/** And of at most this many terms: more than people ask for, and each costs time however short its postings are. */
const MAX_TERMS_READ = 64;

interface Row {
  term: string | null;
  bytes: number | null;
  blocks: number | null;
  /** The transaction ids (xmin) of the blocks; changes with every write to one. */
  version: string | null;
  is_read: boolean | null;
  /** Null if the term is too frequent to be read, or its postings are cached. */
  postings: Buffer | null;
  document_id: string | null;
  document_no: number | null;
  title_terms: string | null;
  body_terms: string | null;
  body: Buffer | null;
  next_no: number | null;
  documents: number | null;
  pivot_title: number | null;
  pivot_body: number | null;
}

/**
 * Reads the index data of the terms by the keys of search_postings and search_pending. `needed` terms are read however
 * frequent they are, and take no place of others.
 */
export async function readIndex(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  terms: readonly string[],
  needed: readonly string[],
): Promise<IndexData> {
  const all = [...new Set([...terms, ...needed])];
  const cached = cachedPostings({ wiki_id, kind }, all);
  const rows = await many<Row>({
    sized: sql`
      select p.term, sum(octet_length(p.postings))::int as bytes, count(*)::int as blocks,
        string_agg(p.xmin::text, ' ' order by p.chunk_no) as version
      from search_postings p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term = any (${all}::text[]) group by p.term`,
    chosen: sql`
      select s.*, s.is_needed
        or (sum(s.bytes) over rarest - s.bytes < ${MAX_BYTES_READ} and row_number() over rarest <= ${MAX_TERMS_READ}) as is_read
      from (select *, term = any (${needed}::text[]) as is_needed from sized) s
      window rarest as (partition by s.is_needed order by s.bytes, s.term)`,
    waiting: sql`
      select distinct on (p.document_id) p.document_id, p.title_terms, p.body_terms, p.body, p.body is not null or exists (
          select from unnest(${all.map(asWritten)}::text[]) t
          where position(t in p.body_terms) > 0 or position(t in p.title_terms) > 0) as holds
      from search_pending p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind}
        and (p.body_terms is not null or p.body is not null) order by p.document_id, p.version desc`,
    result: sql`
      select c.term, c.bytes, c.blocks, c.version, c.is_read, case when c.is_read and c.version is distinct from k.version then (
          select string_agg(p.postings, '' order by p.chunk_no) from search_postings p
          where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.term = c.term) end as postings,
        ${NO_DOCUMENT}, ${NO_INDEX}
      from chosen c
      left join unnest(${[...cached.keys()]}::text[], ${[...cached.values()].map(({ version }) => version)}::text[]) k (term, version)
        on k.term = c.term
      union all
      select ${NO_TERM}, w.document_id, coalesce(d.document_no, -1), case when w.holds then coalesce(w.title_terms, '') end,
        case when w.holds then coalesce(w.body_terms, '') end, w.body, ${NO_INDEX}
      from waiting w
      left join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_id = w.document_id
      union all
      select ${NO_TERM}, ${NO_DOCUMENT}, i.next_no, i.documents, i.pivot_title, i.pivot_body
      from search_wikis i where i.wiki_id = ${wiki_id} and i.kind = ${kind}`,
  });
  for (const row of rows) {
    if (row.term === null || row.version === null || !row.is_read) continue;
    const known = cached.get(row.term);
    if (known?.version === row.version) row.postings = known.postings;
    if (row.postings) cachePostings({ wiki_id, kind }, row.term, { version: row.version, postings: row.postings });
  }
  return toIndexData(rows);
}

/** How pending documents write a term; a beginning is that of a term. */
function asWritten(term: string): string {
  return term.startsWith(BEGINNING) ? ` ${term.slice(BEGINNING.length)}` : ` ${term}:`;
}

const NO_TERM: Sql = sql`
  null::text as term, null::int as bytes, null::int as blocks, null::text as version, null::boolean as is_read, null::bytea as postings`;
const NO_DOCUMENT: Sql = sql`null::text as document_id, null::int as document_no, null::text as title_terms, null::text as body_terms,
  null::bytea as body`;
const NO_INDEX: Sql = sql`null::int as next_no, null::int as documents, null::real as pivot_title, null::real as pivot_body`;

function toIndexData(rows: readonly Row[]): IndexData {
  const terms: IndexData['terms'] = new Map();
  const pending: PendingDocument[] = [];
  let index: IndexData['index'] = { ...FIRST_PIVOTS, next_no: 0, documents: 0 };
  for (const row of rows) {
    const { term, document_id, title_terms } = row;
    const body_terms = row.body ? unpackTerms(row.body) : row.body_terms;
    if (term !== null) {
      const documents = documentsIn(row.bytes ?? 0, row.blocks ?? 0);
      terms.set(term, { documents, postings: row.postings ?? undefined });
    } else if (document_id !== null) {
      pending.push({
        document_id,
        document_no: row.document_no ?? -1,
        terms: title_terms === null || body_terms === null ? undefined : { title_terms, body_terms },
      });
    } else {
      const { next_no, documents, pivot_title, pivot_body } = row;
      index = {
        next_no: next_no ?? 0,
        documents: documents ?? 0,
        pivot_title: pivot_title ?? index.pivot_title,
        pivot_body: pivot_body ?? index.pivot_body,
      };
    }
  }
  // Pending documents count, so that the first documents of a wiki are ranked by inverse document frequency too.
  return { index: { ...index, documents: index.documents + pending.length }, terms, pending };
}
