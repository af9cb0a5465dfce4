import { isMap, isSeq } from 'yaml';
import { DEPTH_MAX, PATHS_MAX, type ReadOrder } from './read-order.ts';
import { itemsOf, textOf, valueAt, yamlContent } from './yaml-nodes.ts';

/** Reads `toc.yml` (DocFX, Microsoft Learn): nested items with addresses. */
export function docfxToc(text: string): ReadOrder {
  const content = yamlContent(text);
  if (content === undefined) return 'broken';
  const paths: string[] = [];
  const walk = (items: readonly unknown[], depth: number) => {
    for (const item of items) {
      if (!isMap(item) || paths.length >= PATHS_MAX || depth > DEPTH_MAX) continue;
      for (const key of ['topicHref', 'href', 'tocHref', 'homepage']) {
        const path = textOf(valueAt(item, key));
        if (path !== undefined) paths.push(path);
      }
      walk(itemsOf(valueAt(item, 'items')), depth + 1);
    }
  };
  walk(itemsOf(isSeq(content) ? content : valueAt(content, 'items')), 1);
  return paths.length > 0 ? { paths } : 'not_order';
}
