import { ApiError, validationError } from '../core/errors.ts';
import { decodeCursor, encodeCursor, nextLink } from '../core/paging.ts';
import { readTimestamp } from '../core/timestamps.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { isStorable } from './body.ts';

/**
 * `timestamp`: in PostgreSQL's text format in UTC with microseconds, so the statement must return `created_at::text`.
 */
type KeyType = 'text' | 'integer' | 'number' | 'timestamp';

/** The order of a list, so that it can continue after any record ("keyset pagination", the "seek method"). */
export interface ListOrder<Query, Reply> {
  /**
   * The columns of the statement's `order by`, in this order and all in the same direction. They are never null and
   * together identify a row. Each row of the result has them as fields: `p.page_id` is `page_id`. Fields that are not
   * in the record's schema are not sent.
   */
  keys: Record<string, KeyType>;
  isDescending?: (query: Query) => boolean;
  /** Returns the records of the reply that `limit` counts. Default: all of them, if the reply is a list. */
  counted?: (reply: Reply, query: Query) => object[];
  /** The query parameter for the cursor. Default: `after`. */
  parameter?: string;
  /** The path of another endpoint with the same list and the same cursors. */
  list?: string;
}

/** The requested part of a list, for its statement. */
export interface ListPage {
  /** `and (keys) > (values) order by keys limit … offset …`; must follow a `where` with a condition. */
  clause: Sql;
  /** Only the condition, `and …`, for statements with a more complex order. Empty without a cursor. */
  seekClause: Sql;
  /** The keys of the record that the cursor names; the list continues after it. */
  after: readonly (string | number)[] | undefined;
}

type Query = Record<string, unknown>;

const NOTHING = raw('');

/**
 * Decodes and encodes the cursors of an endpoint. A cursor is not secret and grants nothing: its values are
 * placeholders, compared with rows that the guard and row-level security let the caller see.
 */
// `any`, because the endpoints have every shape; each is typed where it is defined.
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
    /** Throws 422 for a cursor together with an offset, because the offset would have no starting point. */
    check(query: Query): void {
      const cursor = paging && query[parameter];
      if (cursor === undefined || (query.offset ?? 0) === 0) return;
      const msg = `Value error, ${parameter} already sets the start of the page: omit either offset or ${parameter}`;
      throw validationError([{ type: 'value_error', loc: ['query', parameter], msg, input: cursor }]);
    },

    /** Returns the requested part of a list, or the error for an invalid cursor. */
    pageOf(query: Query): ListPage | ApiError | undefined {
      if (!paging) return undefined;
      const given = query[parameter];
      const after = keysOf(given);
      if (given !== undefined && !after) {
        return new ApiError(
          'invalid_query',
          `This cursor does not belong to this list. Use ${parameter} from the Link header of a response, or omit it to start with the first record.`,
        );
      }
      const isDescending = paging.isDescending?.(query) === true;
      const seekClause = after ? seek(columns, after, isDescending) : NOTHING;
      const order = joined(columns.map((column) => (isDescending ? sql`${column} desc` : column)));
      const clause = sql`${seekClause} order by ${order} ${partOf(query)}`;
      return { clause, seekClause, after };
    },

    /**
     * Returns the `Link` header for the next page; undefined for the last page, which has fewer records than the limit.
     */
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
  // The range of a four-byte column. Comparing it with a larger number is a database error.
  return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31;
}

/** Omits a missing limit: for a limit of null, PostgreSQL plans as for a small limit. */
function partOf({ limit, offset }: Query): Sql {
  if (limit === undefined) return NOTHING;
  return offset === undefined ? sql`limit ${limit}` : sql`limit ${limit} offset ${offset}`;
}

function isTimestamp(text: string): boolean {
  return (
    /^.{10} .{8}(\.\d{1,6})?\+00$/.test(text) && readTimestamp(text.replace(' ', 'T').replace('+00', 'Z')) !== undefined
  );
}

/** `and (a, b) > (…, …)`: PostgreSQL compares rows column by column and can start there in an index on the columns. */
function seek(columns: readonly Sql[], values: readonly unknown[], isDescending: boolean): Sql {
  const placeholders = joined(values.map((value) => sql`${value}`));
  return sql`and (${joined(columns)}) ${isDescending ? raw('<') : raw('>')} (${placeholders})`;
}

function joined(pieces: readonly Sql[]): Sql {
  return pieces.reduce((before, piece) => sql`${before}, ${piece}`);
}
