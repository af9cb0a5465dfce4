import { tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import { type Static, type TProperties, Type } from 'typebox';
import { type Credential, subjectOf } from '../../../platform/access/credential.ts';
import { PAGING } from '../../../platform/core/paging.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { ListPage } from '../../../platform/http/list-paging.ts';
import { SORTS } from '../schema.ts';
import { DATES, type Filter, readFilter } from './filters.ts';
import { MAX_RAISED } from './nearness.ts';
import { type ParsedQuery, parseQuery, QUERY_CHARACTERS, readableQuery } from './parse-query.ts';
import type { Candidate, Cut } from './rank.ts';

const OptionalText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1_024, description }));
const OptionalDates = (description: string) =>
  Type.Optional(Type.String({ pattern: DATES, maxLength: 30, description }));

/** The parameters of a search except its sort order and paging. Any text is a valid query. */
export const SEARCHED = {
  query: Type.String({
    minLength: 1,
    // About the maximum length of an address.
    maxLength: 8_192,
    description:
      'Words; any of them may match. "…" is a phrase, -word excludes, +word and AND require; title:, in:, path:, author:, tag:, ' +
      `created:, updated:, status: and type: filter. See docs/search.md. Only the first ${QUERY_CHARACTERS} ` +
      'characters of a query are read.',
  }),
  title: OptionalText('Words that the title must contain.'),
  path: OptionalText('Part of the path; for sources, part of the filename.'),
  author: OptionalText('The author: the beginning of a name, an e-mail address, a user_id, or "me".'),
  created: OptionalDates(
    'Creation date in UTC: 2026, 2026-01, 2026-01-31, with <, <=, > or >= before it, or 2026-01..2026-03.',
  ),
  updated: OptionalDates('Date of the last change, in the format of `created`.'),
} satisfies TProperties;

const Order = Type.Enum([...SORTS], {
  description:
    'By relevance by default. `updated` and `created` sort newest first. Of more than 10,000 hits, only the best are sorted.',
});
export type Sort = Static<typeof Order>;

/** All parameters of both searches: `query` and its filters, `sort` and paging. */
export const SearchQuery = Type.Object({ ...SEARCHED, sort: Type.Optional(Order), ...PAGING });

/** The columns by which hits `h` are ordered. */
export const SEARCH_ORDER = {
  keys: { 'h.sort_number': 'number', 'h.sort_text': 'text' },
  isDescending: ({ sort }: { sort?: Sort }) => sort !== 'title',
} as const;

type Parameters = Partial<Record<'title' | Filter['field'], string>>;

/** Parses a query and its parameters, which are equivalent to the operators of the same names. */
export function readSearch({ query, title, ...parameters }: { query: string } & Parameters): ParsedQuery {
  const filters = (['in', 'path', 'author', 'tag', 'created', 'updated', 'status'] as const).flatMap((field) => {
    const value = parameters[field];
    return value === undefined ? [] : (readFilter(field, value) ?? []);
  });
  return parseQuery(query, title, filters);
}

/** Parses the parameters of a search into the query, the sort order and the requested page of hits. */
export function readRequest(query: Static<typeof SearchQuery> & Parameters, paging: ListPage, credential: Credential) {
  const parsed = readSearch(query);
  const sort = sortOf(query, parsed);
  const { limit, offset } = query;
  const behind = behindOf(paging, sort);
  const caller = subjectOf(credential).join(' ');
  const part = { limit, offset, after: paging.after, behind, isByRank: sort === 'relevance', caller };
  return { parsed, sort, part };
}

/** The header that tells that a query was truncated, and its description. */
export const CUT_HEADER = {
  'Ibid-Query-Cut': 'Sent only if the query was truncated: the number of characters that were read, in UTF-16 units.',
};

export function cutHeader(query: string): Record<string, string> {
  const { length } = readableQuery(query);
  return length === query.length ? {} : { 'Ibid-Query-Cut': String(length) };
}

/** The header that tells which words were corrected, and its description. */
export const CORRECTED_HEADER = {
  'Ibid-Query-Corrected':
    'Sent only if words that the wiki does not contain were corrected: the corrected query, percent-encoded.',
};

/** `mistyped`: words of the query and their replacements. */
export function correctedHeader(query: string, mistyped: ReadonlyMap<string, string>): Record<string, string> {
  if (mistyped.size === 0) return {};
  return { 'Ibid-Query-Corrected': encodeURIComponent(withCorrections(readableQuery(query), mistyped)) };
}

/** Replaces words in a query. */
export function withCorrections(text: string, others: ReadonlyMap<string, string>): string {
  let meant = '';
  let at = 0;
  for (const { word, start, end } of tokenize(text)) {
    const other = others.get(word);
    if (other === undefined) continue;
    meant += text.slice(at, start) + other;
    at = end;
  }
  return meant + text.slice(at);
}

/** Without words there is no rank: the most recently updated documents come first. */
function sortOf({ sort = 'relevance' }: { sort?: Sort }, { words }: ParsedQuery): Sort {
  return sort === 'relevance' && words.length === 0 ? 'updated' : sort;
}

/** Selects `sort_number` and `sort_text` for a document `d` of the candidates `c`. */
export function sortColumns(sort: Sort, d: 'p' | 's', score: Sql): Sql {
  const time = { updated: `${d}.updated_at`, created: `${d}.created_at` };
  if (sort === 'relevance') {
    return sql`${score} as sort_number, lpad(c.no::text, 10, '0') || c.id collate "C" as sort_text, c.is_near`;
  }
  // A cursor holds no more characters of a title.
  if (sort === 'title')
    return raw(
      `0::float8 as sort_number, (left(${natural(`folded(${d}.title)`)}, 60) || ' ' || c.id) collate "C" as sort_text`,
    );
  return raw(`extract(epoch from ${time[sort]})::float8 as sort_number, c.id collate "C" as sort_text`);
}

/** Returns SQL that pads numbers of up to nine digits in `text` with zeros, so that they sort by value. */
function natural(text: string): string {
  const padded = `regexp_replace(${text}, '(?<![0-9])([0-9]{1,9})(?![0-9])', '000000000\\1', 'g')`;
  return `regexp_replace(${padded}, '0*([0-9]{9})(?![0-9])', '\\1', 'g')`;
}

/** The hits to fetch: the requested page, plus every hit that proximity boosting could move into it. */
export interface HitsPart {
  offset: number;
  areRaised: boolean;
  /** Their candidates, best first; undefined if a search without words selects its documents directly. */
  best: readonly Candidate[] | undefined;
}

/** Selects the hits of a page from `rows`, which have the columns of `sortColumns`. */
export function selectHits(
  rows: Sql,
  { seekClause, after }: ListPage,
  sort: Sort,
  limit: number,
  { offset, areRaised }: HitsPart,
): Sql {
  if (!areRaised) {
    return sql`select * from (${rows}) h where true ${seekClause} order by ${orderOfHits(sort)} limit ${limit} offset ${offset}`;
  }
  // Every raised hit may move to the front, which moves other hits back by as many places.
  const last = after ? limit + MAX_RAISED : offset + limit;
  return sql`
    select * from (
      select h.*, (row_number() over (order by ${orderOfHits(sort)}))::int as place
      from (${rows}) h where h.is_near or (true ${seekClause})) h
    where h.is_near or (h.place > ${offset - MAX_RAISED} and h.place <= ${last})`;
}

/** Orders hits `h`. */
export function orderOfHits(sort: Sort): Sql {
  return raw(sort === 'title' ? 'h.sort_number, h.sort_text' : 'h.sort_number desc, h.sort_text desc');
}

/** The last hit of the previous page, for a list by rank. */
function behindOf({ after }: ListPage, sort: Sort): Cut['behind'] {
  const [score, text] = after ?? [];
  if (sort !== 'relevance' || typeof score !== 'number') return undefined;
  return { score, document_no: Number(String(text).slice(0, 10)) };
}
