import { isMap } from 'yaml';
import type { ReadOrder } from './read-order.ts';
import { textOf, valueAt, yamlContent } from './yaml-nodes.ts';

/**
 * Reads the position of a folder from Docusaurus' `_category_.json` or `_category_.yml`. A YAML parser reads both,
 * because JSON is YAML.
 */
export function categoryPosition(text: string): ReadOrder {
  const content = yamlContent(text);
  if (!isMap(content)) return 'broken';
  const weight = Number.parseFloat(textOf(valueAt(content, 'position')) ?? '');
  return Number.isFinite(weight) ? { paths: [], weight } : { paths: [] };
}
