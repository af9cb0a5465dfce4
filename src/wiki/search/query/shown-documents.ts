import type { Statements } from '../../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import type { Cut } from './rank.ts';

/** The documents that a search may show, as conditions on a page `p` or a source `s`. */
export interface Shown {
  /** Visible to the caller, and matching the filters. */
  isFound: Sql;
  /** Whether there are filters. */
  isFiltered: boolean;
  /** The documents that are never shown to the caller, as `document_no` (null if not indexed) and `document_id`. */
  leftOut: Sql;
}

/** Selects no documents. */
export const NO_DOCUMENTS: Sql = raw('select null::int as document_no, null::text as document_id where false');

/**
 * Reads which documents a search may show, to rank only these. With filters, it reads the matching documents, otherwise
 * the ones that are left out, which are few.
 */
export async function readShown(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  { isFound, isFiltered, leftOut }: Shown,
): Promise<NonNullable<Cut['isShown']>> {
  const d = raw(kind === 'page' ? 'p' : 's');
  const id = raw(`${kind}_id`);
  const found = sql`
    select n.document_no, ${d}.${id} as document_id
    from ${raw(`${kind}s`)} ${d}
    left join search_documents n on n.wiki_id = ${wiki_id} and n.kind = ${kind} and n.document_id = ${d}.${id}
    where ${d}.wiki_id = ${wiki_id} and ${isFound}`;
  const [row] = await many<{ numbers: string | null; ids: string[] | null }>(sql`
    select string_agg(n.document_no::text, ',') as numbers, array_agg(n.document_id) filter (where n.document_no is null) as ids
    from (${isFiltered ? found : leftOut}) n`);
  const numbers = new Set(row?.numbers ? row.numbers.split(',').map(Number) : []);
  const ids = new Set(row?.ids ?? []);
  const isListed = (no: number, document_id: string) => (no >= 0 ? numbers.has(no) : ids.has(document_id));
  return isFiltered ? isListed : (no, document_id) => !isListed(no, document_id);
}
