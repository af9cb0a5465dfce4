/** What a query may ask for beside words, as operators (`author:ada`) and as parameters (`author=ada`). */
const FILTER_FIELDS = ['in', 'path', 'author', 'tag', 'created', 'updated', 'status', 'type'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export interface Filter {
  field: FilterField;
  /** As it was written, for `in`, `path`, `author` and `tag`. */
  value: string;
  /** Of `created` and `updated`: from when, and before when; undefined where that end is open. */
  from?: Date;
  before?: Date;
  isExcluded: boolean;
}

const DAY = '\\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\\d|3[01]))?)?';
/** A day, month or year in UTC; `>`, `>=`, `<` or `<=` one; or from one to another, `*` for an open end. */
export const DATES = `^(?:(?:[<>]=?)?${DAY}|(?:${DAY}|\\*)\\.\\.(?:${DAY}|\\*))$`;
const IS_DATES = new RegExp(DATES);

const VALUES: Partial<Record<FilterField, RegExp>> = {
  created: IS_DATES,
  updated: IS_DATES,
  status: /^(?:draft|published|archived)$/,
  type: /^(?:page|source)$/,
};

/** The filter of a field and a value; undefined where the value is none that the field has, which is then text. */
export function readFilter(field: FilterField, given: string): Filter | undefined {
  const value = VALUES[field] ? given.toLowerCase().replace(/[),.;]+$/, '') : given.replace(/\)+$/, '').trim();
  if (value === '' || VALUES[field]?.test(value) === false) return undefined;
  const isDate = field === 'created' || field === 'updated';
  return { field, value, isExcluded: false, ...(isDate && readDates(value)) };
}

function readDates(value: string): Pick<Filter, 'from' | 'before'> {
  const [first = '', last] = value.split('..');
  if (last !== undefined) {
    return { ...(first !== '*' && { from: beginOf(first) }), ...(last !== '*' && { before: endOf(last) }) };
  }
  const [, sign, day = ''] = /^([<>]=?)?(.*)$/.exec(value) ?? [];
  if (sign === '>') return { from: endOf(day) };
  if (sign === '>=') return { from: beginOf(day) };
  if (sign === '<') return { before: beginOf(day) };
  if (sign === '<=') return { before: endOf(day) };
  return { from: beginOf(day), before: endOf(day) };
}

function beginOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return utc(year, month - 1, date);
}

/** The first moment after a day, month or year. */
function endOf(day: string): Date {
  const [year = 0, month, date] = day.split('-').map(Number);
  if (month === undefined) return utc(year + 1, 0, 1);
  return date === undefined ? utc(year, month, 1) : utc(year, month - 1, date + 1);
}

/** Date.UTC takes the years before 100 for those of the 20th century. */
function utc(year: number, month: number, date: number): Date {
  const day = new Date(Date.UTC(2000, month, date));
  day.setUTCFullYear(year + day.getUTCFullYear() - 2000);
  return day;
}
