import { isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** The content of a YAML or JSON file as nodes, in which aliases are never expanded; undefined for broken ones. */
export function yamlContent(text: string): unknown {
  try {
    const { contents, errors } = parseDocument(text, { logLevel: 'silent', uniqueKeys: false });
    return errors.length > 0 ? undefined : contents;
  } catch {
    // Deeply nested YAML overflows the parser's stack.
    return undefined;
  }
}

/** The value of a key of a mapping; undefined if there is none. */
export function valueAt(node: unknown, key: string): unknown {
  if (!isMap(node)) return undefined;
  return node.items.find((pair) => textOf(pair.key) === key)?.value ?? undefined;
}

/** The items of a list; none if it is no list. */
export function itemsOf(node: unknown): readonly unknown[] {
  return isSeq(node) ? node.items : [];
}

/** A text as it is meant, a number as it is written; undefined for others. */
export function textOf(node: unknown): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}
