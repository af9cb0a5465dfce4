/** Fields of filters, which are given as operators (`author:ada`) or as parameters (`author=ada`). */
const FILTER_FIELDS = ['in', 'path', 'author', 'tag', 'created', 'updated', 'status', 'type'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export interface Filter {
  field: FilterField;
  /** As written in the query, for `in`, `path`, `author` and `tag`. */
  value: string;
  /** For `created` and `updated`: inclusive start and exclusive end; undefined if open. */
  from?: Date;
  before?: Date;
  isExcluded: boolean;
}

const DAY = '\\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\\d|3[01]))?)?';
/** A day, month or year in UTC, optionally after `>`, `>=`, `<` or `<=`; or a range `a..b` with `*` for an open end. */
export const DATES = `^(?:(?:[<>]=?)?${DAY}|(?:${DAY}|\\*)\\.\\.(?:${DAY}|\\*))$`;
const IS_DATES = new RegExp(DATES);

const VALUES: Partial<Record<FilterField, RegExp>> = {
  created: IS_DATES,
  updated: IS_DATES,
  status: /^(?:draft|published|archived)$/,
  type: /^(?:page|source)$/,
};

/**
 * Parses a filter. Returns undefined if the field cannot have the value; the query text is then searched for as words.
 */
export function readFilter(field: FilterField, given: string): Filter | undefined {
  const value = VALUES[field] ? given.toLowerCase().replace(/[),.;]+$/, '') : given.replace(/\)+$/, '').trim();
  if (value === '' || VALUES[field]?.test(value) === false) return undefined;
  const isDate = field === 'created' || field === 'updated';
  return { field, value, isExcluded: false, ...(isDate && readDates(value)) };
}

function readDates(value: string): Pick<Filter, 'from' | 'before'> {
  const [first = '', last] = value.split('..');
  if (last !== undefined) {
    return { ...(first !== '*' && { from: startOf(first) }), ...(last !== '*' && { before: endOf(last) }) };
  }
  const [, sign, day = ''] = /^([<>]=?)?(.*)$/.exec(value) ?? [];
  if (sign === '>') return { from: endOf(day) };
  if (sign === '>=') return { from: startOf(day) };
  if (sign === '<') return { before: startOf(day) };
  if (sign === '<=') return { before: endOf(day) };
  return { from: startOf(day), before: endOf(day) };
}

function startOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return utc(year, month - 1, date);
}

/** Returns the first moment after a day, month or year. */
function endOf(day: string): Date {
  const [year = 0, month, date] = day.split('-').map(Number);
  if (month === undefined) return utc(year + 1, 0, 1);
  return date === undefined ? utc(year, month, 1) : utc(year, month - 1, date + 1);
}

/** Date.UTC maps the years 0 to 99 to the 20th century. */
function utc(year: number, month: number, date: number): Date {
  const day = new Date(Date.UTC(2000, month, date));
  day.setUTCFullYear(year + day.getUTCFullYear() - 2000);
  return day;
}
