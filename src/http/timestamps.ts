const RFC3339 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/**
 * A time that a client sent, in UTC with milliseconds; undefined for anything but RFC 3339 and for a day or an hour that
 * there is not, which the database would take for its own failure.
 */
export function readTimestamp(text: string): string | undefined {
  const [, day] = RFC3339.exec(text) ?? [];
  if (day === undefined || !isOfTheCalendar(day) || Number.isNaN(Date.parse(text))) return undefined;
  const time = new Date(text).toISOString();
  // An offset may lead out of the years that have four digits.
  return /^(?!0000)\d{4}-/.test(time) ? time : undefined;
}

/** Dates turn the 30th of February into the 2nd of March. */
function isOfTheCalendar(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
