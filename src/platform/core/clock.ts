/** Milliseconds that this process's clock is ahead of the database's clock. */
let aheadMs = 0;

/**
 * Returns the time on the database's clock, in milliseconds since 1970. Use it for values that other processes compare
 * or order by.
 */
export function databaseTime(): number {
  return Date.now() - aheadMs;
}

export function clockSkewMs(): number {
  return aheadMs;
}

export function setClockSkewMs(ms: number): void {
  aheadMs = ms;
}
