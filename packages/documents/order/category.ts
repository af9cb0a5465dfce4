import { isMap } from 'yaml';
import type { ReadOrder } from './read-order.ts';
import { textOf, valueAt, yamlContent } from './yaml-nodes.ts';

/** `_category_.json` and `_category_.yml` (Docusaurus): the position of the folder. Every JSON is YAML. */
export function categoryPosition(text: string): ReadOrder {
  const content = yamlContent(text);
  if (!isMap(content)) return 'broken';
  const weight = Number.parseFloat(textOf(valueAt(content, 'position')) ?? '');
  return Number.isFinite(weight) ? { paths: [], weight } : { paths: [] };
}
