import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/** A top-level field of front matter, as a row shows it. */
export interface Property {
  name: string;
  /** `other` is shown as source: a map, a list of lists, a text of several lines, an alias. */
  kind: 'text' | 'check' | 'date' | 'list' | 'other';
  /** Without its quotes; "" for a missing value. */
  value: string;
  items: readonly string[];
}

/** A field with its YAML nodes, which have the positions. */
export interface Field extends Property {
  key: Scalar;
  node: Scalar | YAMLSeq | undefined;
}

export type Reading =
  | { properties: readonly Property[] }
  /** The first invalid line of the front matter, counted from 1. */
  | { badLine: number };

/** Maximum length that the service reads, in UTF-16 units. */
const LONGEST = 16_384;
/** Fields that are lists even without a value. */
const LISTS = new Set(['tags', 'tag', 'keywords', 'aliases', 'categories', 'authors']);

/** Returns the YAML between the two delimiter lines of front matter, and its position. */
export function yamlOf(text: string): { yaml: string; start: number } {
  const start = text.indexOf('\n') + 1;
  return { yaml: text.slice(start, Math.max(start, text.lastIndexOf('\n') + 1)), start };
}

/** Parses front matter including its `---` lines. Returns undefined if it cannot be shown as rows. */
export function readProperties(text: string): Reading | undefined {
  const { yaml } = yamlOf(text);
  if (yaml.length > LONGEST) return undefined;
  const document = parse(yaml);
  const [error] = document?.errors ?? [];
  if (!document || error) return { badLine: (error?.linePos?.[0].line ?? 1) + 1 };
  const fields = fieldsOf(document, yaml);
  return fields && { properties: fields.map(({ name, kind, value, items }) => ({ name, kind, value, items })) };
}

/** Returns the fields of valid YAML that is empty or a block mapping; otherwise undefined. */
export function readFields(yaml: string): Field[] | undefined {
  const document = parse(yaml);
  return document && document.errors.length === 0 ? fieldsOf(document, yaml) : undefined;
}

function parse(yaml: string): Document.Parsed | undefined {
  try {
    return parseDocument(yaml, { logLevel: 'silent' });
  } catch {
    // Deeply nested YAML overflows the parser's stack.
    return undefined;
  }
}

function fieldsOf(document: Document.Parsed, yaml: string): Field[] | undefined {
  const { contents } = document;
  if (contents === null) return [];
  let hasStrayAlias = false;
  visit(document, { Alias: (_key, alias) => void (hasStrayAlias ||= alias.resolve(document) === undefined) });
  if (hasStrayAlias) return undefined;
  if (!isMap(contents) || contents.flow) return undefined;
  const fields = (contents as YAMLMap).items.map((pair) => fieldOf(pair, yaml));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf({ key, value }: Pair, yaml: string): Field | undefined {
  if (!isPlainScalar(key, yaml)) return undefined;
  const name = textOf(key);
  const field = { name, key, value: '', items: [], node: undefined };
  if (value === null) return { ...field, kind: LISTS.has(name.toLowerCase()) ? 'list' : 'text' };
  if (isSeq(value)) {
    const { items } = value as YAMLSeq;
    const isSimple = value.anchor === undefined && value.tag === undefined;
    if (isSimple && items.every((item) => isPlainScalar(item, yaml) && item.value !== null))
      return { ...field, kind: 'list', items: items.map((item) => textOf(item as Scalar)), node: value as YAMLSeq };
  }
  if (!isPlainScalar(value, yaml)) return { ...field, kind: 'other', value: sourceOf(value, yaml) };
  const text = textOf(value);
  if (text === '' && LISTS.has(name.toLowerCase())) return { ...field, kind: 'list', node: value };
  return { ...field, kind: kindOf(value, text), value: text, node: value };
}

function kindOf({ type }: Scalar, text: string): Property['kind'] {
  if (type === Scalar.PLAIN && /^(?:true|false)$/.test(text)) return 'check';
  return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text) ? 'date' : 'text';
}

/** Returns whether a node is a value in one line without anchor or tag. */
function isPlainScalar(node: unknown, yaml: string): node is Scalar {
  if (!isScalar(node) || node.anchor !== undefined || node.tag !== undefined) return false;
  if (node.type !== Scalar.PLAIN && node.type !== Scalar.QUOTE_DOUBLE && node.type !== Scalar.QUOTE_SINGLE)
    return false;
  return !sourceOf(node, yaml).includes('\n') && !textOf(node).includes('\n');
}

/** Returns the value as written, because readers tell `1.10` from `1.1`. */
function textOf({ value, source }: Scalar): string {
  return value === null ? '' : (source ?? String(value));
}

function sourceOf(node: unknown, yaml: string): string {
  const [from, to] = (node as { range?: [number, number] | null }).range ?? [0, 0];
  return yaml.slice(from, to).trimEnd();
}
