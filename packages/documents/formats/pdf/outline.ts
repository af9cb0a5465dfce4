import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import type { Destination } from './page/annotations.ts';

/** The bookmarks of a document by the number of the page that they lead to. */
export type Outline = ReadonlyMap<number, readonly Bookmark[]>;

export interface Bookmark {
  /** The title, normalized by `titleKey`. */
  key: string;
  /** From 1. */
  level: number;
}

/** The limit of bookmarks and of their levels. */
const BOOKMARKS_MAX = 3_000;
const LEVELS = 6;

/** A place on a page (counted from 1), in points; without coordinates for the whole page. */
export interface Target {
  page: number;
  x: number | undefined;
  y: number | undefined;
}

interface OutlineItem {
  title: string;
  dest: Destination | null;
  items: OutlineItem[];
}

/** Reads the bookmarks; empty if they are missing or damaged. */
export async function readOutline(document: PDFDocumentProxy): Promise<Outline> {
  const outline = new Map<number, Bookmark[]>();
  const items = ((await document.getOutline().catch(() => null)) ?? []) as OutlineItem[];
  const left = items.map((item) => ({ item, level: 1 }));
  for (let i = 0; i < left.length && i < BOOKMARKS_MAX; i += 1) {
    const { item, level } = left[i] as (typeof left)[number];
    if (level < LEVELS) for (const child of item.items) left.push({ item: child, level: level + 1 });
    const page = item.dest === null ? undefined : (await targetOf(document, item.dest))?.page;
    const key = titleKey(item.title);
    if (page === undefined || key === '') continue;
    const bookmarks = outline.get(page) ?? [];
    outline.set(page, bookmarks);
    bookmarks.push({ key, level });
  }
  return outline;
}

/** Resolves a destination to a place; undefined if it does not exist. */
export async function targetOf(document: PDFDocumentProxy, destination: Destination): Promise<Target | undefined> {
  try {
    const found = typeof destination === 'string' ? await document.getDestination(destination) : destination;
    const [page, fit, ...numbers] = (found ?? []) as [unknown, { name?: string } | undefined, ...unknown[]];
    const number = typeof page === 'number' ? page + 1 : await pageNumber(document, page);
    if (number === undefined) return undefined;
    const [first, second] = numbers.map((each) => (typeof each === 'number' ? each : undefined));
    if (fit?.name === 'XYZ') return { page: number, x: first, y: second };
    if (fit?.name === 'FitH' || fit?.name === 'FitBH') return { page: number, x: undefined, y: first };
    return { page: number, x: undefined, y: undefined };
  } catch {
    // A destination that does not resolve makes neither a heading nor a link.
    return undefined;
  }
}

async function pageNumber(document: PDFDocumentProxy, page: unknown): Promise<number | undefined> {
  if (page === null || typeof page !== 'object') return undefined;
  return (await document.getPageIndex(page as Parameters<PDFDocumentProxy['getPageIndex']>[0])) + 1;
}

/**
 * Returns the letters and digits of a title. Bookmarks and headings may differ in spaces, signs and the number in
 * front.
 */
export function titleKey(title: string): string {
  const words = title.normalize('NFKC').toLowerCase();
  const bare = words.replace(
    /^\s*(?:(?:chapter|appendix|part|section)\s+)?(?:\d+(?:\.\d+)*|[a-z](?:\.\d+)+|[a-z](?=\.?\s))[.:]?\s+/,
    '',
  );
  return (bare.trim() === '' ? words : bare).replace(/[^\p{L}\p{N}]+/gu, '');
}
