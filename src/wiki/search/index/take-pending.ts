import {
  ANALYSIS,
  type IndexedText,
  indexBody,
  indexTitle,
  readWords,
} from '@ibid/markdown/analysis/document-terms.ts';
import { addedDescription, type PageStructure, withStructure } from '@ibid/markdown/analysis/page-terms.ts';
import type { Query } from '../../../platform/db/db.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { type DocumentTerms, lengthOf, readTerms } from './impacts.ts';
import type { DocumentKind } from './pending.ts';

/** Limits per transaction. */
export const MAX_MERGED_DOCUMENTS = 500;
const MAX_MERGED_CHARACTERS = 4_000_000;

export interface Pending extends Partial<StoredStructure> {
  document_id: string;
  version: number;
  /** Null if the terms have to be computed from the document's text. */
  title_terms: string | null;
  body_terms: string | null;
  vocabulary: string | null;
  /** Null if the document was deleted. */
  title: string | null;
  text: string | null;
}

/** The structure of a page as selected by a statement; all null for a source. */
export type StoredStructure = { [Part in keyof PageStructure]: PageStructure[Part] | null };

/**
 * Returns the columns of StoredStructure for a page `p` and its revision `r`. `html`: the SQL expression of the HTML.
 */
export function structureColumns(kind: DocumentKind, html = 'r.html'): Sql {
  return raw(
    kind === 'page'
      ? `r.outline, ${html} as html, p.tags, p.description, p.properties`
      : 'null as outline, null as html, null as tags, null as description, null as properties',
  );
}

/** Indexes a text together with its stored structure. */
export function indexStored(text: string, stored: Partial<StoredStructure>): IndexedText {
  const { outline, html, tags, description, properties } = stored;
  return withStructure(indexBody(text), {
    outline: outline ?? [],
    html: html ?? '',
    tags: tags ?? [],
    description: addedDescription(description ?? '', text),
    properties: properties ?? [],
  });
}

/** Numbers of words. */
export interface Lengths {
  title_length: number;
  body_length: number;
}

/** The state of a document in the index after the merge. */
export interface TargetState extends Lengths {
  document_id: string;
  isDeleted: boolean;
  terms: DocumentTerms;
  words: string[];
}

/**
 * Reads the latest pending version of up to `most` documents, with the text of the document if the version has no
 * terms.
 */
export async function takePending(query: Query, wiki_id: string, kind: DocumentKind, most: number): Promise<Pending[]> {
  const [table, texts, id] = [raw(`${kind}s`), raw(`${kind}_texts`), raw(`${kind}_id`)];
  const isPage = kind === 'page';
  const revision = isPage
    ? sql`left join pages p on p.wiki_id = t.wiki_id and p.page_id = t.page_id
      left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision`
    : raw('');
  return query<Pending>(sql`
    with latest as (
      select distinct on (document_id) document_id, version, title_terms, vocabulary, analysis,
        case when analysis = ${ANALYSIS} then body_terms end as body_terms
      from search_pending where wiki_id = ${wiki_id} and kind = ${kind}
      order by document_id, version desc limit ${most}
    ), sized as (
      select l.*, d.title, sum(coalesce(length(l.body_terms), 2000)) over (order by l.document_id) as characters
      from latest l left join ${table} d on d.wiki_id = ${wiki_id} and d.${id} = l.document_id
    )
    select s.document_id, s.version, s.body_terms, s.title,
      case when s.analysis = ${ANALYSIS} then s.title_terms end as title_terms,
      case when s.analysis = ${ANALYSIS} then s.vocabulary end as vocabulary,
      case when s.body_terms is null then coalesce(t.text, '') end as text, ${structureColumns(kind)}
    from sized s left join ${texts} t on t.wiki_id = ${wiki_id} and t.${id} = s.document_id and s.body_terms is null ${revision}
    where s.characters - coalesce(length(s.body_terms), 2000) < ${MAX_MERGED_CHARACTERS}
    order by s.document_id`);
}

export function targetStateOf(pending: Pending): TargetState {
  const { document_id, title, text, title_terms, body_terms, vocabulary } = pending;
  const isDeleted = title === null;
  const head = isDeleted || title_terms !== null ? undefined : indexTitle(title);
  const body = isDeleted || text === null ? undefined : indexStored(text, pending);
  const terms = readTerms({
    title_terms: isDeleted ? '' : (head?.terms ?? title_terms ?? ''),
    body_terms: isDeleted ? '' : (body?.terms ?? body_terms ?? ''),
  });
  const words = isDeleted ? [] : [vocabulary, head?.vocabulary, body?.vocabulary];
  return {
    document_id,
    isDeleted,
    terms,
    title_length: lengthOf(terms.title),
    body_length: lengthOf(terms.body),
    words: words.flatMap((some) => readWords(some ?? '')),
  };
}
