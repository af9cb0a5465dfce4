const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * Formats a time as `25 Nov 2026, 06:53`, for an offset as returned by `getTimezoneOffset()`. The service renders UTC
 * and a script renders the reader's zone. Both have the same length, so that nothing moves.
 */
export function timeWords(at: Date, minutesBehindUtc: number): string {
  const there = new Date(at.getTime() - minutesBehindUtc * 60_000);
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${two(there.getUTCDate())} ${MONTHS[there.getUTCMonth()]} ${there.getUTCFullYear()}`;
  return `${date}, ${two(there.getUTCHours())}:${two(there.getUTCMinutes())}`;
}
