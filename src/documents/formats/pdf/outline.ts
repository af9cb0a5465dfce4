import type { PDFDocumentProxy } from 'unpdf/pdfjs';

/** The bookmarks of a document that lead to a page, by the number of the page. */
export type Outline = ReadonlyMap<number, readonly Bookmark[]>;

export interface Bookmark {
  /** The title, as `titleKey` makes it. */
  key: string;
  /** From 1. */
  level: number;
}

/** The limits of bookmarks that are read, and of levels. */
const BOOKMARKS_MAX = 3_000;
const LEVELS = 6;

interface OutlineItem {
  title: string;
  dest: string | unknown[] | null;
  items: OutlineItem[];
}

/** Reads the bookmarks; none if there are none or they are damaged. */
export async function readOutline(document: PDFDocumentProxy): Promise<Outline> {
  const outline = new Map<number, Bookmark[]>();
  const items = ((await document.getOutline().catch(() => null)) ?? []) as OutlineItem[];
  const left = items.map((item) => ({ item, level: 1 }));
  for (let i = 0; i < left.length && i < BOOKMARKS_MAX; i += 1) {
    const { item, level } = left[i] as (typeof left)[number];
    if (level < LEVELS) for (const child of item.items) left.push({ item: child, level: level + 1 });
    const page = await pageOf(document, item.dest);
    const key = titleKey(item.title);
    if (page === undefined || key === '') continue;
    const bookmarks = outline.get(page) ?? [];
    outline.set(page, bookmarks);
    bookmarks.push({ key, level });
  }
  return outline;
}

async function pageOf(document: PDFDocumentProxy, dest: OutlineItem['dest']): Promise<number | undefined> {
  try {
    const [page] = (typeof dest === 'string' ? await document.getDestination(dest) : dest) ?? [];
    if (typeof page === 'number') return page + 1;
    if (page === null || typeof page !== 'object') return undefined;
    return (await document.getPageIndex(page as Parameters<PDFDocumentProxy['getPageIndex']>[0])) + 1;
  } catch {
    // A bookmark that leads nowhere is no heading.
    return undefined;
  }
}

/** The letters and digits of a title: bookmarks and headings differ in spaces and signs, and in numbers before them. */
export function titleKey(title: string): string {
  const words = title.normalize('NFKC').toLowerCase();
  const bare = words.replace(
    /^\s*(?:(?:chapter|appendix|part|section)\s+)?(?:\d+(?:\.\d+)*|[a-z](?:\.\d+)+|[a-z](?=\.?\s))[.:]?\s+/,
    '',
  );
  return (bare.trim() === '' ? words : bare).replace(/[^\p{L}\p{N}]+/gu, '');
}
