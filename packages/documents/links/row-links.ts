import { lineOf } from '@ibid/markdown/parse-markdown.ts';
import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import type { Link, Root, Table } from 'mdast';
import type { CompileInput } from '../compile-input.ts';
import { nameKey } from '../folder-pages.ts';
import { withoutNotionId } from '../notion-names.ts';
import type { Edit } from './edit-text.ts';
import { ATTACHMENT_PREFIX, EARLIER_UPLOAD_PREFIX } from './find-file.ts';

/** Exporters truncate file names. A name of at least this many UTF-16 units may be the beginning of a title. */
const CUT_NAME_MIN = 30;

/** Files by the key of their folder, then by the key of their name. */
const folders = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, ReadonlyMap<string, string>>>();

/**
 * Links the rows of a table to the pages in its folder (`Tasks.csv` and `Tasks/Buy milk.md`) by the text of their first
 * cell, as in Notion's exports of databases. `tree` is the parsed `markdown` and gets the links. Ambiguous names are
 * not linked.
 */
export function linkRows(
  markdown: string,
  tree: Root,
  { filename, page_path }: Pick<CompileInput, 'filename' | 'page_path'>,
  pages: ReadonlyMap<string, string>,
): { edits: Edit[]; links: string[] } {
  let known = folders.get(pages);
  if (!known) folders.set(pages, (known = filesByFolder(pages)));
  const files = known.get(keyOfPath(filename.replace(/\.[^./]+$/, '')));
  const edits: Edit[] = [];
  const links: string[] = [];
  if (!files) return { edits, links };
  for (const table of tree.children.filter((node): node is Table => node.type === 'table')) {
    for (const { children } of table.children.slice(1)) {
      const [cell] = children;
      const [text, ...more] = cell?.children ?? [];
      if (!cell || text?.type !== 'text' || more.length > 0) continue;
      const [start, end] = [text.position?.start.offset, text.position?.end.offset];
      if (start === undefined || end === undefined) continue;
      const found = fileOf(titleKey(text.value), files);
      const path = pages.get(found ?? '');
      if (found === undefined || path === undefined) continue;
      const url = relativeAddress(page_path, path);
      const line = lineOf(text);
      const position = { start: { line, column: 1 }, end: { line, column: 1 } };
      const link: Link = { type: 'link', url, children: [text], position };
      cell.children = [link];
      edits.push({ start, end, text: `[${markdown.slice(start, end)}](${url})`, link });
      links.push(found);
    }
  }
  return { edits, links };
}

function fileOf(title: string, files: ReadonlyMap<string, string>): string | undefined {
  const found = files.get(title);
  if (found !== undefined || title.length < CUT_NAME_MIN) return found || undefined;
  const cut = [...files].filter(([key]) => key.length >= CUT_NAME_MIN && title.startsWith(key));
  return cut.length === 1 ? cut[0]?.[1] || undefined : undefined;
}

/** Indexes files by folder and name; "" for ambiguous names. */
function filesByFolder(pages: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const known = new Map<string, Map<string, string>>();
  for (const [filename, path] of pages) {
    const at = filename.lastIndexOf('/');
    const isText = /\.(?:md|html?)$/i.test(filename);
    if (at < 0 || !isText || filename.startsWith(EARLIER_UPLOAD_PREFIX) || path.startsWith(ATTACHMENT_PREFIX)) continue;
    const folder = keyOfPath(filename.slice(0, at));
    const files = known.get(folder) ?? new Map<string, string>();
    known.set(folder, files);
    const key = titleKey(withoutNotionId(filename.slice(at + 1).replace(/\.[^.]+$/, '')));
    if (key !== '') files.set(key, files.has(key) ? '' : filename);
  }
  return known;
}

function keyOfPath(path: string): string {
  const at = path.lastIndexOf('/');
  return `${path.slice(0, at + 1)}${nameKey(path.slice(at + 1))}`;
}

/** Keeps letters and digits only, because file names lack other characters of a title. */
function titleKey(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
