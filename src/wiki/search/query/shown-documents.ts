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
  /** Without filters: hidden from the caller, in a form that can use an index. */
  isHidden: Sql;
}

/**
 * Reads which documents a search may show, to rank only these. With filters, it reads the matching documents, otherwise
 * the ones hidden from the caller, which are few.
 */
export async function readShown(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  { isFound, isFiltered, isHidden }: Shown,
): Promise<NonNullable<Cut['isShown']>> {
  const d = raw(kind === 'page' ? 'p' : 's');
  const id = raw(`${kind}_id`);
  const [row] = await many<{ numbers: string | null; ids: string[] | null }>(sql`
    select string_agg(n.document_no::text, ',') as numbers, array_agg(${d}.${id}) filter (where n.document_no is null) as ids
    from ${raw(`${kind}s`)} ${d}
    left join search_documents n on n.wiki_id = ${wiki_id} and n.kind = ${kind} and n.document_id = ${d}.${id}
    where ${d}.wiki_id = ${wiki_id} and ${isFiltered ? isFound : isHidden}`);
  const numbers = new Set(row?.numbers ? row.numbers.split(',').map(Number) : []);
  const ids = new Set(row?.ids ?? []);
  const isListed = (no: number, document_id: string) => (no >= 0 ? numbers.has(no) : ids.has(document_id));
  return isFiltered ? isListed : (no, document_id) => !isListed(no, document_id);
}
