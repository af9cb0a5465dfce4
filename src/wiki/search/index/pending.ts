import { ANALYSIS, type IndexedText, indexTitle } from '@ibid/markdown/analysis/document-terms.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';

export type DocumentKind = 'page' | 'source';

/** Identifies the index of a wiki's pages, or of its sources. */
export type Index = { wiki_id: string; kind: DocumentKind };

/** The new state of a document. `body` is undefined if the text is unchanged. */
export interface DocumentState {
  title: string;
  body: IndexedText | undefined;
}

/**
 * The CTE that queues a document in the statement that writes it, so that the next search finds it. `from` selects
 * wiki_id, document_id and version, which grows with each write.
 */
export function pendingCte(kind: DocumentKind, { title, body }: DocumentState, from: Sql): Sql {
  const head = indexTitle(title);
  if (body) {
    return sql`
      insert into search_pending (wiki_id, kind, document_id, version, title_terms, body_terms, vocabulary, analysis)
      select w.wiki_id, ${kind}, w.document_id, w.version, ${head.terms}, ${body.terms}, ${head.vocabulary + body.vocabulary}, ${ANALYSIS}
      from (${from}) w
      ${ONE_ROW_PER_VERSION}`;
  }
  // If the terms of the text are not pending, the merge of the title computes them again from the text.
  return sql`
    insert into search_pending (wiki_id, kind, document_id, version, title_terms, body_terms, vocabulary, analysis)
    select w.wiki_id, ${kind}, w.document_id, w.version, ${head.terms}, t.body_terms, ${head.vocabulary}, coalesce(t.analysis, ${ANALYSIS})
    from (${from}) w left join lateral (
      select p.body_terms, p.analysis from search_pending p
      where p.wiki_id = w.wiki_id and p.kind = ${kind} and p.document_id = w.document_id order by p.version desc limit 1) t on true
    ${ONE_ROW_PER_VERSION}`;
}

/** Like `pendingCte`, for a batch of documents: a complete statement that returns no rows. */
export function pendingBatch(
  kind: DocumentKind,
  wiki_id: string,
  documents: readonly { document_id: string; version: number; title: string; body: IndexedText }[],
): Sql {
  const terms = documents.map(({ title, body }) => pendingTerms(title, body));
  return pendingCopies(
    kind,
    sql`
    select ${wiki_id}::text as wiki_id, * from unnest(
      ${documents.map(({ document_id }) => document_id)}::text[], ${documents.map(({ version }) => version)}::int[],
      ${terms.map(({ title_terms }) => title_terms)}::text[], ${terms.map(({ body_terms }) => body_terms)}::text[],
      ${terms.map(({ vocabulary }) => vocabulary)}::text[])
      as w (document_id, version, title_terms, body_terms, vocabulary)`,
  );
}

/** Returns the columns of search_pending for a document with this title and text. */
export function pendingTerms(title: string, body: IndexedText) {
  const head = indexTitle(title);
  return { title_terms: head.terms, body_terms: body.terms, vocabulary: head.vocabulary + body.vocabulary };
}

/**
 * Like `pendingBatch`, for documents stored in the database. `from` selects the columns of `pendingCte` and of
 * `pendingTerms`.
 */
export function pendingCopies(kind: DocumentKind, from: Sql): Sql {
  return sql`
    insert into search_pending (wiki_id, kind, document_id, version, title_terms, body_terms, vocabulary, analysis)
    select w.wiki_id, ${kind}, w.document_id, w.version, w.title_terms, w.body_terms, w.vocabulary, ${ANALYSIS} from (${from}) w
    ${ONE_ROW_PER_VERSION}`;
}

/** A reindex job may already have queued the same version. */
const ONE_ROW_PER_VERSION = sql`
    on conflict (wiki_id, kind, document_id, version) do update
    set title_terms = excluded.title_terms, body_terms = excluded.body_terms, vocabulary = excluded.vocabulary, analysis = excluded.analysis`;

/** The CTE that removes permanently deleted documents from the index. `ids`: a query of one column. */
export function dropPendingCte(kind: DocumentKind, wiki_id: string, ids: Sql): Sql {
  return sql`
    insert into search_pending (wiki_id, kind, document_id, version, title_terms, body_terms, vocabulary, analysis)
    select ${wiki_id}, ${kind}, id, ${2 ** 31 - 1}, '', '', '', ${ANALYSIS} from (${ids}) gone (id)
    on conflict do nothing`;
}
