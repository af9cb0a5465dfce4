import { isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** Parses YAML or JSON to nodes without expanding aliases. Returns undefined if the file is broken. */
export function yamlContent(text: string): unknown {
  try {
    const { contents, errors } = parseDocument(text, { logLevel: 'silent', uniqueKeys: false });
    return errors.length > 0 ? undefined : contents;
  } catch {
    // Deeply nested YAML overflows the parser's stack.
    return undefined;
  }
}

/** Returns the value of a key in a mapping; undefined if the key is missing. */
export function valueAt(node: unknown, key: string): unknown {
  if (!isMap(node)) return undefined;
  return node.items.find((pair) => textOf(pair.key) === key)?.value ?? undefined;
}

/** Returns the items of a list; [] for other nodes. */
export function itemsOf(node: unknown): readonly unknown[] {
  return isSeq(node) ? node.items : [];
}

/** Returns the value of a string, or a number as written; undefined for other nodes. */
export function textOf(node: unknown): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}
