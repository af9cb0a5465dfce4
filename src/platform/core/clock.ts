/** By how many milliseconds the clock of this process is ahead of the database's. */
let aheadMs = 0;

/** The time on the database's clock, in milliseconds since 1970: what other processes compare or order by is made of it. */
export function databaseTime(): number {
  return Date.now() - aheadMs;
}

export function clockSkewMs(): number {
  return aheadMs;
}

export function setClockSkewMs(ms: number): void {
  aheadMs = ms;
}
