/** The form of a time as RFC 3339 writes it, for a schema: whether there is such a day is readTimestamp's to say. */
export const TIMESTAMP_PATTERN =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$';

const RFC3339 = new RegExp(TIMESTAMP_PATTERN);

/**
 * A time that a client sent, in UTC with milliseconds; undefined for anything but RFC 3339 and for a day or an hour that
 * there is not, which the database would take for its own failure.
 */
export function readTimestamp(text: string): string | undefined {
  if (!RFC3339.test(text) || !isOfTheCalendar(text.slice(0, 10)) || Number.isNaN(Date.parse(text))) return undefined;
  const time = new Date(text).toISOString();
  // An offset may lead out of the years that have four digits.
  return /^(?!0000)\d{4}-/.test(time) ? time : undefined;
}

/** Dates turn the 30th of February into the 2nd of March. */
function isOfTheCalendar(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
