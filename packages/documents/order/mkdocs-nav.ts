import { isMap, isSeq } from 'yaml';
import { DEPTH_MAX, PATHS_MAX, type ReadOrder } from './read-order.ts';
import { itemsOf, textOf, valueAt, yamlContent } from './yaml-nodes.ts';

/**
 * Reads the `nav` of `mkdocs.yml`: paths and lists of paths, with or without titles. Paths are relative to `docs_dir`.
 */
export function mkdocsNav(text: string): ReadOrder {
  const content = yamlContent(text);
  if (content === undefined) return 'broken';
  const nav = valueAt(content, 'nav');
  if (nav === undefined) return 'not_order';
  const paths: string[] = [];
  const walk = (node: unknown, depth: number) => {
    if (paths.length >= PATHS_MAX || depth > 2 * DEPTH_MAX) return;
    const path = textOf(node);
    if (path !== undefined) paths.push(path);
    else if (isSeq(node)) for (const item of itemsOf(node)) walk(item, depth + 1);
    else if (isMap(node)) for (const { value } of node.items) walk(value, depth + 1);
  };
  walk(nav, 1);
  return paths.length > 0 ? { paths, root: textOf(valueAt(content, 'docs_dir')) ?? 'docs' } : 'broken';
}
