/** Ids of the built-in formats of Excel for dates, times and percentages. */
const DATES = new Set([14, 15, 16, 17, 22, 27, 30, 36, 50, 57]);
const TIMES = new Set([18, 19, 20, 21, 45, 46, 47]);
const PERCENT: Record<number, number> = { 9: 0, 10: 2 };

/**
 * Day 0 of both calendars of Excel. The calendar of 1900 wrongly has a 29 February 1900; old Macs used the one from
 * 1904.
 */
const EPOCHS = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) };
const DAY = 86_400_000;

/** Excel stores no longer format code. */
const CODE_MAX = 255;

/**
 * Formats a number as its cell shows it if the format changes its meaning: dates, times, percentages. Other numbers
 * keep all digits.
 */
export function shownNumber(value: number, format: { id: number; code: string }, is1904: boolean): string {
  // Colours, conditions and quoted texts are not part of the pattern.
  const pattern =
    format.code
      .slice(0, CODE_MAX)
      .replace(/\[(?!h|m|s)[^\]]*\]|"[^"]*"|\\.|_.|\*./gi, '')
      .split(';', 1)[0] ?? '';
  const hasDate = DATES.has(format.id) || /[yd]/i.test(pattern) || /m{3,}/i.test(pattern);
  const hasTime = TIMES.has(format.id) || format.id === 22 || /[hs]/i.test(pattern);
  if ((hasDate || hasTime) && !/general/i.test(pattern)) return dateOf(value, hasDate, hasTime, is1904);
  const decimals =
    PERCENT[format.id] ?? (pattern.includes('%') ? (/\.(0+)/.exec(pattern)?.[1]?.length ?? 0) : undefined);
  if (decimals === undefined) return String(Number(value.toPrecision(15)));
  // Keep digits that the cell does not show: they belong to the value.
  return `${Number((100 * value).toPrecision(15))}%`;
}

function dateOf(value: number, hasDate: boolean, hasTime: boolean, is1904: boolean): string {
  const time = EPOCHS[is1904 ? 1904 : 1900] + Math.round(value * DAY);
  const date = new Date(time);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 || value < 0) return String(value);
  const [day = '', clock = ''] = date.toISOString().split('T');
  const seconds = clock.slice(0, clock.slice(6, 8) === '00' ? 5 : 8);
  if (!hasDate) {
    const hours = Math.floor((value * DAY + 500) / 3_600_000);
    return hours < 24 ? seconds : `${hours}${seconds.slice(2)}`;
  }
  return hasTime ? `${day} ${seconds}` : day;
}
