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

/** What a search is asked for. Any text is a valid query. */
export const SEARCHED = {
  query: Type.String({
    minLength: 1,
    // About as much as an address may have.
    maxLength: 8_192,
    description:
      'Words, of which any may match. "…" is a phrase, -word excludes, +word and AND require; title:, in:, path:, author:, tag:, ' +
      `created:, updated:, status: and type: narrow. See docs/search.md. Of a longer query the first ${QUERY_CHARACTERS} ` +
      'characters are read.',
  }),
  title: OptionalText('Words that the title has to contain.'),
  path: OptionalText('A part of the path; of a source, of its filename.'),
  author: OptionalText('Who made it: the beginning of a name, an e-mail address, a user_id, or "me".'),
  created: OptionalDates('When, in UTC: 2026, 2026-01, 2026-01-31, with <, <=, > or >= before, or 2026-01..2026-03.'),
  updated: OptionalDates('When it was changed last, as `created`.'),
} satisfies TProperties;

const Order = Type.Enum([...SORTS], {
  description:
    'By relevance unless stated. The newest first by `updated` and `created`. Of more than 10,000 hits the best are ordered.',
});
export type Sort = Static<typeof Order>;

/** `query`, what narrows it, `sort` and the part of the list, of both searches. */
export const SearchQuery = Type.Object({ ...SEARCHED, sort: Type.Optional(Order), ...PAGING });

/** The columns that hits `h` are ordered by. */
export const SEARCH_ORDER = {
  keys: { 'h.sort_number': 'number', 'h.sort_text': 'text' },
  isDescending: ({ sort }: { sort?: Sort }) => sort !== 'title',
} as const;

type Parameters = Partial<Record<'title' | Filter['field'], string>>;

/** A query with its parameters, which mean the same as the operators of their names. */
export function readSearch({ query, title, ...parameters }: { query: string } & Parameters): ParsedQuery {
  const filters = (['in', 'path', 'author', 'tag', 'created', 'updated', 'status'] as const).flatMap((field) => {
    const value = parameters[field];
    return value === undefined ? [] : (readFilter(field, value) ?? []);
  });
  return parseQuery(query, title, filters);
}

/** What a search asks for, in which order, and which part of the hits. */
export function readRequest(query: Static<typeof SearchQuery> & Parameters, paging: ListPage, credential: Credential) {
  const parsed = readSearch(query);
  const sort = sortOf(query, parsed);
  const { limit, offset } = query;
  const behind = behindOf(paging, sort);
  const caller = subjectOf(credential).join(' ');
  const part = { limit, offset, after: paging.after, behind, isByRank: sort === 'relevance', caller };
  return { parsed, sort, part };
}

/** The header that says that a query was cut, and its description. */
export const CUT_HEADER = {
  'Ibid-Query-Cut': 'Only with a query that is too long: how many of its characters were read, in UTF-16 units.',
};

export function cutHeader(query: string): Record<string, string> {
  const { length } = readableQuery(query);
  return length === query.length ? {} : { 'Ibid-Query-Cut': String(length) };
}

/** The header that says which words were taken for typing errors, and its description. */
export const CORRECTED_HEADER = {
  'Ibid-Query-Corrected':
    'Only where words that the wiki does not have were taken for typing errors: the query as it was understood, percent-encoded.',
};

/** `mistyped`: words of the query, and what was found instead. */
export function correctedHeader(query: string, mistyped: ReadonlyMap<string, string>): Record<string, string> {
  if (mistyped.size === 0) return {};
  return { 'Ibid-Query-Corrected': encodeURIComponent(withCorrections(readableQuery(query), mistyped)) };
}

/** A query with other words in the place of some. */
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

/** Without words there is no rank: what was changed last is first. */
function sortOf({ sort = 'relevance' }: { sort?: Sort }, { words }: ParsedQuery): Sort {
  return sort === 'relevance' && words.length === 0 ? 'updated' : sort;
}

/** The order of a document `d` of the candidates `c`: `sort_number` and `sort_text`. */
export function sortColumns(sort: Sort, d: 'p' | 's', score: Sql): Sql {
  const time = { updated: `${d}.updated_at`, created: `${d}.created_at` };
  if (sort === 'relevance') {
    return sql`${score} as sort_number, lpad(c.no::text, 10, '0') || c.id collate "C" as sort_text, c.is_near`;
  }
  // A cursor holds no more of a title.
  if (sort === 'title')
    return raw(
      `0::float8 as sort_number, (left(${natural(`folded(${d}.title)`)}, 60) || ' ' || c.id) collate "C" as sort_text`,
    );
  return raw(`extract(epoch from ${time[sort]})::float8 as sort_number, c.id collate "C" as sort_text`);
}

/** A text as people order it: numbers of up to nine digits by their value. */
function natural(text: string): string {
  const padded = `regexp_replace(${text}, '(?<![0-9])([0-9]{1,9})(?![0-9])', '000000000\\1', 'g')`;
  return `regexp_replace(${padded}, '0*([0-9]{9})(?![0-9])', '\\1', 'g')`;
}

/** Which hits a statement answers: those of the part, or where some may be raised all of these and others around the part. */
export interface HitsPart {
  offset: number;
  areRaised: boolean;
  /** The candidates that they are of, best first; undefined for all documents that a search without words finds. */
  best: readonly Candidate[] | undefined;
}

/** The hits of a part of the list, of `rows` with the columns of `sortColumns`. */
export function hitsOfPart(
  rows: Sql,
  { seekClause, after }: ListPage,
  sort: Sort,
  limit: number,
  { offset, areRaised }: HitsPart,
): Sql {
  if (!areRaised) {
    return sql`select * from (${rows}) h where true ${seekClause} order by ${orderOfHits(sort)} limit ${limit} offset ${offset}`;
  }
  // Any that may be raised may come before, so that others move back by as many places.
  const last = after ? limit + MAX_RAISED : offset + limit;
  return sql`
    select * from (
      select h.*, (row_number() over (order by ${orderOfHits(sort)}))::int as place
      from (${rows}) h where h.is_near or (true ${seekClause})) h
    where h.is_near or (h.place > ${offset - MAX_RAISED} and h.place <= ${last})`;
}

/** The order of hits `h`. */
export function orderOfHits(sort: Sort): Sql {
  return raw(sort === 'title' ? 'h.sort_number, h.sort_text' : 'h.sort_number desc, h.sort_text desc');
}

/** The hit of a list by rank that it goes on behind. */
function behindOf({ after }: ListPage, sort: Sort): Cut['behind'] {
  const [score, text] = after ?? [];
  if (sort !== 'relevance' || typeof score !== 'number') return undefined;
  return { score, document_no: Number(String(text).slice(0, 10)) };
}
