import { isMap, isSeq } from 'yaml';
import { PATHS_MAX, type ReadOrder } from './read-order.ts';
import { itemsOf, textOf, valueAt, yamlContent } from './yaml-nodes.ts';

/** Represents all files that the list does not name. */
const REST = /^(?:\.\.\.|\*)/;

/**
 * Reads `.pages` (awesome-pages) and `.nav.yml` (awesome-nav) of MkDocs: files and folders in the same folder, with or
 * without titles. Entries after `...` or `*` come last.
 */
export function pagesNav(text: string): ReadOrder {
  const content = yamlContent(text);
  if (content === undefined) return 'broken';
  const nav = valueAt(content, 'nav') ?? valueAt(content, 'arrange');
  if (!isSeq(nav)) return 'not_order';
  const paths: string[] = [];
  const last: string[] = [];
  let isBehind = false;
  const add = (path: string | undefined) => {
    if (path === undefined || paths.length + last.length >= PATHS_MAX) return;
    if (REST.test(path)) isBehind = true;
    else (isBehind ? last : paths).push(path);
  };
  for (const item of itemsOf(nav)) {
    if (!isMap(item)) add(textOf(item));
    else
      for (const { value } of item.items) for (const each of isSeq(value) ? itemsOf(value) : [value]) add(textOf(each));
  }
  return paths.length + last.length > 0 ? { paths, last } : 'not_order';
}
