/** RFC 3339 format for schemas. `readTimestamp` also checks that the date exists. */
export const TIMESTAMP_PATTERN =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$';

const RFC3339 = new RegExp(TIMESTAMP_PATTERN);

/**
 * Parses an RFC 3339 timestamp from a client and returns it in UTC with milliseconds. Returns undefined if it is
 * malformed or the date or time does not exist, which PostgreSQL would report as its own error.
 */
export function readTimestamp(text: string): string | undefined {
  if (!RFC3339.test(text) || !isCalendarDate(text.slice(0, 10)) || Number.isNaN(Date.parse(text))) return undefined;
  const time = new Date(text).toISOString();
  // The offset may move the year beyond four digits.
  return /^(?!0000)\d{4}-/.test(time) ? time : undefined;
}

/** Date.parse accepts February 30 as March 2. */
function isCalendarDate(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
