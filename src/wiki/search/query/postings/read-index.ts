import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BEGINNING } from '@ibid/markdown/analysis/stem.ts';
import type { Statements } from '../../../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../../../platform/db/sql.ts';
import { FIRST_PIVOTS } from '../../index/impacts.ts';
import { stateOf } from '../../index/index-state.ts';
import type { Index } from '../../index/pending.ts';
import { indexStored, type StoredStructure, structureColumns } from '../../index/take-pending.ts';
import type { IndexData, PendingDocument } from '../rank.ts';
import type { FoundRow } from './found-blocks.ts';
import { addToCache, cached } from './posting-cache.ts';
import { NOTHING_FOUND, parseWanted, readPostingsCtes, recallTerms } from './read-postings.ts';
import { NO_VIEW, recallView, takeView, type ViewRow, viewColumns } from './seen-documents.ts';

/** Maximum number of pending documents with a new title only, whose texts are analyzed during a search. */
const MAX_RETITLED = 32;
/** Characters of each text that are analyzed then. */
const MAX_RETITLED_CHARACTERS = 100_000;

interface Row extends FoundRow, ViewRow {
  document_id: string | null;
  document_no: number | null;
  document_version: number | null;
  title_terms: string | null;
  /** Null if the text is unchanged. */
  body_terms: string | null;
  next_no: number | null;
  documents_in_index: number | null;
  pivot_title: number | null;
  pivot_body: number | null;
}

/**
 * Reads the index data of terms by the keys of search_blocks and search_pending. `needed` terms are read regardless of
 * their frequency, and do not count against the limits.
 */
export async function readIndex(
  many: Statements['many'],
  index: Index,
  terms: readonly string[],
  needed: readonly string[],
): Promise<IndexData> {
  const { wiki_id, kind } = index;
  const all = [...new Set([...terms, ...needed])];
  const { steps, termsOf } = readPostingsCtes(
    index,
    all.map((term) => parseWanted(term, needed.includes(term))),
  );
  const rows = await many<Row>({
    ...steps,
    waiting: sql`
      select distinct on (p.document_id) p.document_id, p.version, p.title_terms, p.body_terms, p.body_terms is null or exists (
          select from unnest(${all.map(asWritten)}::text[]) t
          where position(t in p.body_terms) > 0 or position(t in p.title_terms) > 0) as holds
      from search_pending p
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.title_terms is not null order by p.document_id, p.version desc`,
    result: sql`
      select f.*, ${NO_DOCUMENT}, ${NO_INDEX}, ${NO_VIEW} from found f
      union all
      select ${NOTHING_FOUND}, w.document_id, coalesce(d.document_no, -1), w.version, case when w.holds then w.title_terms end,
        case when w.holds then w.body_terms end, ${NO_INDEX}, ${NO_VIEW}
      from waiting w
      left join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_id = w.document_id
      union all
      select ${NOTHING_FOUND}, ${NO_DOCUMENT}, i.next_no, i.documents, i.pivot_title, i.pivot_body, ${viewColumns(index)}
      from (values (1)) always left join search_wikis i on i.wiki_id = ${wiki_id} and i.kind = ${kind}`,
  });
  const state = rows.find(({ next_no }) => next_no !== null);
  const pending = await toPending(many, index, rows);
  const data: IndexData = {
    index: {
      next_no: state?.next_no ?? 0,
      // Pending documents count, so that inverse document frequency also works in a new wiki.
      documents: (state?.documents_in_index ?? 0) + pending.length,
      pivot_title: state?.pivot_title ?? FIRST_PIVOTS.pivot_title,
      pivot_body: state?.pivot_body ?? FIRST_PIVOTS.pivot_body,
    },
    terms: termsOf(rows),
    pending,
    state: stateOf(
      rows.filter(({ what }) => what === 'segment'),
      state,
      pending.length > 0,
    ),
    view: '',
  };
  const segments = rows.flatMap(({ what, segment_id }) =>
    what === 'segment' && segment_id !== null ? segment_id : [],
  );
  addToCache(
    index,
    LAST_READ,
    { index: data.index, state: data.state, segments } satisfies LastRead,
    40 * segments.length,
  );
  return takeView(index, data, rows);
}

/** The state of an index at its last read. */
type LastRead = Pick<IndexData, 'index' | 'state'> & { segments: string[] };
const LAST_READ = 'last read';

/**
 * Returns the result of `readIndex` for these terms from the cache; undefined if anything is missing there, or if
 * documents were pending at the last read. `view`: the view of the caller at their last search. The caller must
 * confirm that the index still has this `state`.
 */
export function recallIndex(
  index: Index,
  view: string,
  terms: readonly string[],
  needed: readonly string[],
): IndexData | undefined {
  const last = cached<LastRead>(index, LAST_READ);
  if (!last || last.state === undefined) return undefined;
  const wanted = [...new Set([...terms, ...needed])].map((term) => parseWanted(term, needed.includes(term)));
  const found = recallTerms(index, wanted, last.segments);
  return (
    found && recallView(index, { index: last.index, state: last.state, terms: found, pending: [], view: '' }, view)
  );
}

/** The text to search for in pending terms; a beginning matches as a prefix. */
function asWritten(term: string): string {
  return term.startsWith(BEGINNING) ? ` ${term.slice(BEGINNING.length)}` : ` ${term}:`;
}

const NO_DOCUMENT: Sql = sql`null::text as document_id, null::int as document_no, null::int as document_version, null::text as title_terms,
  null::text as body_terms`;
const NO_INDEX: Sql = sql`null::int as next_no, null::int as documents_in_index, null::real as pivot_title, null::real as pivot_body`;

async function toPending(many: Statements['many'], index: Index, rows: readonly Row[]): Promise<PendingDocument[]> {
  const waiting = rows.filter(({ document_id }) => document_id !== null);
  const retitled = waiting.filter(({ title_terms, body_terms }) => title_terms !== null && body_terms === null);
  const bodies = await termsOfTexts(many, index, retitled.slice(0, MAX_RETITLED));
  return waiting.flatMap(({ document_id, document_no, title_terms, body_terms }): PendingDocument[] => {
    const body = body_terms ?? bodies.get(document_id ?? '');
    // Beyond the limit, the previous version of a document is found until the merge.
    if (title_terms !== null && body === undefined) return [];
    return [
      {
        document_id: document_id ?? '',
        document_no: document_no ?? -1,
        terms: title_terms === null || body === undefined ? undefined : { title_terms, body_terms: body },
      },
    ];
  });
}

/**
 * Returns the terms of texts whose document has a new title. The index cannot list the terms of a document, so the
 * texts are analyzed.
 */
async function termsOfTexts(
  many: Statements['many'],
  index: Index,
  retitled: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>();
  const nameOf = ({ document_id, document_version }: Row) => `terms ${document_id} ${document_version}`;
  for (const row of retitled) {
    const known = cached<string>(index, nameOf(row));
    if (known !== undefined) bodies.set(row.document_id ?? '', known);
  }
  const unread = retitled.filter(({ document_id }) => !bodies.has(document_id ?? ''));
  if (unread.length === 0) return bodies;
  const id = raw(`${index.kind}_id`);
  const isPage = index.kind === 'page';
  const texts = await many<{ id: string; text: string } & StoredStructure>(sql`
    select t.${id} as id, left(t.text, ${MAX_RETITLED_CHARACTERS}) as text,
      ${structureColumns(index.kind, `left(r.html, ${MAX_RETITLED_CHARACTERS})`)}
    from ${raw(`${index.kind}_texts`)} t ${raw(
      isPage
        ? `left join pages p on p.wiki_id = t.wiki_id and p.page_id = t.page_id
          left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision`
        : '',
    )}
    where t.wiki_id = ${index.wiki_id} and t.${id} = any (${unread.map(({ document_id }) => document_id)}::text[])`);
  for (const row of unread) {
    await yieldToEventLoop();
    const found = texts.find((text) => text.id === row.document_id);
    const { terms } = indexStored(found?.text ?? '', found ?? {});
    bodies.set(row.document_id ?? '', terms);
    addToCache(index, nameOf(row), terms, 2 * terms.length);
  }
  return bodies;
}
