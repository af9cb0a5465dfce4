import { ApiError, validationError } from '../core/errors.ts';
import { decodeCursor, encodeCursor, nextLink } from '../core/paging.ts';
import { readTimestamp } from '../core/timestamps.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { isStorable } from './body.ts';

/** `timestamp`: as PostgreSQL writes it in UTC, with microseconds: the statement answers `created_at::text`. */
type KeyType = 'text' | 'integer' | 'number' | 'timestamp';

/** What a list is ordered by, so that it can go on behind any of its records ("keyset pagination", the "seek method"). */
export interface ListOrder<Query, Reply> {
  /**
   * The columns of its statement that it is ordered by, in that order and all in the same direction. None is null and
   * together they name one row. Each row that the endpoint answers has them as fields: `p.page_id` is `page_id`. One that
   * is no field of the record is not sent.
   */
  keys: Record<string, KeyType>;
  isDescending?: (query: Query) => boolean;
  /** The records of the answer that `limit` counts; all of them unless stated, where the answer is a list. */
  counted?: (reply: Reply, query: Query) => object[];
  /** The parameter of the query that takes the cursor: `after` unless stated. */
  parameter?: string;
  /** The path of the endpoint whose cursors it takes and gives, where another one has the same list. */
  list?: string;
}

/** The part of a list that a request asks for, for its statement. */
export interface ListPage {
  /** `and (keys) > (values) order by keys limit … offset …`: stands behind a `where` with a condition. */
  clause: Sql;
  /** The condition of it alone, `and …`: for a statement that has more to order by. Empty without a cursor. */
  seekClause: Sql;
  /** The keys of the record that the list goes on behind, where a cursor names one. */
  after: readonly (string | number)[] | undefined;
}

type Query = Record<string, unknown>;

const NOTHING = raw('');

/**
 * Reads and writes the cursors of an endpoint. A cursor is no secret and proves nothing: it is compared with rows that the
 * guard and row-level security let the caller see, and the values in it are placeholders.
 */
// `any`, because the endpoints are of every shape; each was typed where it was defined.
export function listPaging({ path, paging }: { path: string; paging?: ListOrder<any, any> }) {
  const list = (paging?.list ?? path).replace(/^\/v1\/|\/:[a-z_]+/g, '');
  const keys = Object.entries(paging?.keys ?? {});
  const columns = keys.map(([column]) => raw(column));
  const fields = keys.map(([column]) => column.replace(/^.*\./, ''));
  const parameter = paging?.parameter ?? 'after';

  function keysOf(cursor: unknown): (string | number)[] | undefined {
    const values = typeof cursor === 'string' ? decodeCursor(list, cursor) : undefined;
    if (values?.length !== keys.length) return undefined;
    return values.every((value, i) => isKey(value, keys[i]?.[1])) ? (values as (string | number)[]) : undefined;
  }

  return {
    /** Errors: 422 for a cursor together with an offset, which would count from nowhere. */
    check(query: Query): void {
      const cursor = paging && query[parameter];
      if (cursor === undefined || (query.offset ?? 0) === 0) return;
      const msg = `Value error, ${parameter} already says where the list goes on: leave offset out, or ${parameter}`;
      throw validationError([{ type: 'value_error', loc: ['query', parameter], msg, input: cursor }]);
    },

    /** What the request asks of a list, or why there is no such cursor. */
    pageOf(query: Query): ListPage | ApiError | undefined {
      if (!paging) return undefined;
      const given = query[parameter];
      const after = keysOf(given);
      if (given !== undefined && !after) {
        return new ApiError(
          'invalid_query',
          `This is no cursor of this list. Take ${parameter} from the Link header of an answer, or leave it out to begin with the first record.`,
        );
      }
      const isDescending = paging.isDescending?.(query) === true;
      const seekClause = after ? seek(columns, after, isDescending) : NOTHING;
      const order = joined(columns.map((column) => (isDescending ? sql`${column} desc` : column)));
      const clause = sql`${seekClause} order by ${order} ${partOf(query)}`;
      return { clause, seekClause, after };
    },

    /** The value of the `Link` header to the next page; undefined on the last one, which has fewer records than the limit. */
    nextLink(url: string, query: Query, reply: unknown): string | undefined {
      const { limit, offset = 0 } = query;
      const records: unknown = paging?.counted?.(reply, query) ?? reply;
      if (!Array.isArray(records) || typeof limit !== 'number' || typeof offset !== 'number') return undefined;
      const last: Query | undefined = records.at(-1);
      if (!last || records.length < limit) return undefined;
      if (!paging || offset > 0) return nextLink(url, { limit, offset: offset + records.length });
      const cursor = encodeCursor(
        list,
        fields.map((field) => last[field]),
      );
      return nextLink(url, { limit, offset: undefined, [parameter]: cursor });
    },
  };
}

function isKey(value: unknown, type: KeyType | undefined): boolean {
  if (type === 'text') return typeof value === 'string' && isStorable(value);
  if (type === 'timestamp') return typeof value === 'string' && isTimestamp(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  // As large as a column of four bytes may be; a comparison with more is an error of the database.
  return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31;
}

/** Of a list that may be asked for as a whole, too, PostgreSQL would plan for a limit that is null as for a small one. */
function partOf({ limit, offset }: Query): Sql {
  if (limit === undefined) return NOTHING;
  return offset === undefined ? sql`limit ${limit}` : sql`limit ${limit} offset ${offset}`;
}

function isTimestamp(text: string): boolean {
  return (
    /^.{10} .{8}(\.\d{1,6})?\+00$/.test(text) && readTimestamp(text.replace(' ', 'T').replace('+00', 'Z')) !== undefined
  );
}

/** `and (a, b) > (…, …)`: PostgreSQL compares rows column by column and starts there in an index on the columns. */
function seek(columns: readonly Sql[], values: readonly unknown[], isDescending: boolean): Sql {
  const placeholders = joined(values.map((value) => sql`${value}`));
  return sql`and (${joined(columns)}) ${isDescending ? raw('<') : raw('>')} (${placeholders})`;
}

function joined(pieces: readonly Sql[]): Sql {
  return pieces.reduce((before, piece) => sql`${before}, ${piece}`);
}
