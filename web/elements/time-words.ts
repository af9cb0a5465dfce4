const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * A time in a zone, by its minutes behind UTC: `25 Nov 2026, 06:53`. The service writes it in UTC and a script in the reader's zone:
 * both are of the same length, so that nothing moves.
 */
export function timeWords(at: Date, minutesBehindUtc: number): string {
  const there = new Date(at.getTime() - minutesBehindUtc * 60_000);
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${two(there.getUTCDate())} ${MONTHS[there.getUTCMonth()]} ${there.getUTCFullYear()}`;
  return `${date}, ${two(there.getUTCHours())}:${two(there.getUTCMinutes())}`;
}
