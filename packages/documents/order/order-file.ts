import { categoryPosition } from './category.ts';
import { docfxToc } from './docfx-toc.ts';
import { linkList } from './link-list.ts';
import { mkdocsNav } from './mkdocs-nav.ts';
import { nameList } from './name-list.ts';
import { pagesNav } from './pages-nav.ts';
import type { ReadOrder } from './read-order.ts';

interface Reader {
  name: RegExp;
  read(text: string): ReadOrder;
}

/** In order of precedence, for folders with several kinds of order files. */
const READERS: readonly Reader[] = [
  { name: /^\.order$/i, read: nameList },
  { name: /^\.(?:pages|nav\.ya?ml)$/i, read: pagesNav },
  { name: /^summary\.md$/i, read: linkList },
  { name: /^_sidebar\.md$/i, read: linkList },
  { name: /^toc\.ya?ml$/i, read: docfxToc },
  { name: /^mkdocs\.ya?ml$/i, read: mkdocsNav },
  { name: /^_category_\.(?:json|ya?ml)$/i, read: categoryPosition },
];

/** Returns the precedence of an order file by its name, the smallest first; -1 for any other file. */
export function orderKind(filename: string): number {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  return READERS.findIndex((reader) => reader.name.test(name));
}

/** Reads an order file of a name for which `orderKind` is not -1. Never throws. */
export function readOrderFile(filename: string, text: string): ReadOrder {
  const lines = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  return READERS[orderKind(filename)]?.read(lines) ?? 'not_order';
}
