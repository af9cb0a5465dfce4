/**
 * Names and positions of WAL. A segment has 16 MiB. Its name contains its timeline and its number, which continues
 * across timelines.
 */
const SEGMENT = /^([0-9A-F]{8})([0-9A-F]{8})000000([0-9A-F]{2})$/;
const HISTORY = /^([0-9A-F]{8})\.history$/;

export interface Segment {
  timeline: number;
  number: number;
}

/** Parses the name of a segment; returns undefined for other names. */
export function readSegment(name: string): Segment | undefined {
  const [, timeline, high, low] = SEGMENT.exec(name) ?? [];
  if (timeline === undefined || high === undefined || low === undefined) return undefined;
  return {
    timeline: Number.parseInt(timeline, 16),
    number: Number.parseInt(high, 16) * 256 + Number.parseInt(low, 16),
  };
}

export function segmentName({ timeline, number }: Segment): string {
  return `${hex(timeline)}${hex(Math.floor(number / 256))}${hex(number % 256)}`;
}

const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');

/** Whether PostgreSQL archives a file of this name: a segment or the history of a timeline. */
export const isArchived = (name: string) => readSegment(name) !== undefined || HISTORY.test(name);

/** Returns the number of the segment that contains a position such as 1/4F000028. */
export function segmentOf(lsn: string): number {
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 256 + Math.floor(Number.parseInt(low, 16) / 2 ** 24);
}

export const historyName = (timeline: number) => `${hex(timeline)}.history`;

/** A timeline and the segment from which it is followed; 0 for the first timeline. */
interface Part {
  timeline: number;
  from: number;
}

/** Parses the history file of a timeline into its ancestors and the timeline itself, each with its first segment. */
function readHistory(timeline: number, text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const [, parent, end] of text.matchAll(/^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/gm)) {
    parts.push({ timeline: Number(parent), from });
    from = segmentOf(end ?? '');
  }
  return [...parts, { timeline, from }];
}

export interface WalChain {
  timeline: number;
  /** Names of consecutive segments from the start. */
  segments: string[];
  /** Segments missing before a later one. */
  missing: string[];
}

/**
 * Follows the WAL after a base backup, along the latest timeline that descends from the backup's. `stored` has the
 * names of stored files, `histories` the history files by timeline.
 */
export function followWal(
  base: Segment,
  stored: ReadonlySet<string>,
  histories: ReadonlyMap<number, string>,
): WalChain {
  const parts = [...histories]
    .map(([timeline, text]) => readHistory(timeline, text))
    .filter((history) =>
      history.some(
        ({ timeline }, at) =>
          timeline === base.timeline && (history[at + 1]?.from ?? Number.POSITIVE_INFINITY) >= base.number,
      ),
    )
    .sort((a, b) => (b.at(-1)?.timeline ?? 0) - (a.at(-1)?.timeline ?? 0))[0] ?? [{ timeline: base.timeline, from: 0 }];
  const nameOf = (number: number) =>
    segmentName({ timeline: parts.findLast(({ from }) => from <= number)?.timeline ?? base.timeline, number });
  const numbers = [...stored].map(readSegment).filter((segment) => segment !== undefined);
  const last = Math.max(
    base.number,
    ...numbers.filter((segment) => segmentName(segment) === nameOf(segment.number)).map(({ number }) => number),
  );
  const names = Array.from({ length: last - base.number + 1 }, (_, i) => nameOf(base.number + i));
  const missing = names.filter((name) => !stored.has(name));
  const end = missing[0] === undefined ? names.length : names.indexOf(missing[0]);
  return { timeline: parts.at(-1)?.timeline ?? base.timeline, segments: names.slice(0, end), missing };
}
