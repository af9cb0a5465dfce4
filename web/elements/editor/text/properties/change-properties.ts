import { isScalar, isSeq, parseDocument, Scalar, type YAMLSeq } from 'yaml';
import { type Field, readFields, yamlOf } from './read-properties.ts';

/** A replacement of a range of front matter. */
export interface TextChange {
  from: number;
  to: number;
  insert: string;
}

/** The expected content of the changed field when it is parsed again. */
type Expected = Pick<Field, 'value'> | Pick<Field, 'items'>;

/**
 * Changes the value of a field, keeps its quotes, and changes no other byte. Like the functions below, parses the
 * result first, and returns undefined unless the field has the intended value and all other fields are unchanged.
 */
export function setValue(text: string, name: string, value: string): TextChange | undefined {
  return changeField(text, name, { value }, ({ node, key }, yaml) => {
    const colon = colonBehind(key, yaml);
    if (!node || !isScalar(node)) return { from: colon, to: colon, insert: value === '' ? '' : ` ${written(value)}` };
    const [from, to] = rangeOf(node);
    if (node.type === Scalar.QUOTE_DOUBLE) return { from, to, insert: JSON.stringify(value) };
    if (node.type === Scalar.QUOTE_SINGLE) return { from, to, insert: `'${value.replaceAll("'", "''")}'` };
    if (from === to || value === '') return { from: colon, to, insert: value === '' ? '' : ` ${written(value)}` };
    return { from, to, insert: written(value) };
  });
}

export function addItem(text: string, name: string, item: string): TextChange | undefined {
  return changeField(
    text,
    name,
    (field) => ({ items: [...field.items, item] }),
    ({ node, key, items }, yaml) => {
      const colon = colonBehind(key, yaml);
      if (!isSeq(node)) {
        const [from, to] = rangeOf(node);
        // A comment may follow an empty value.
        return { from: colon, to: from < to ? to : colon, insert: ` [${written(item, true)}]` };
      }
      if (items.length === 0) return insertAt(rangeOf(node)[0] + 1, written(item, true));
      const [, end] = rangeOf(node.items.at(-1));
      if (node.flow) return insertAt(end, `, ${written(item, true)}`);
      const [first] = rangeOf(node.items[0]);
      const indent = yaml.slice(lineStart(yaml, first), yaml.lastIndexOf('-', first));
      return insertAt(lineEnd(yaml, end), `\n${indent}- ${written(item)}`);
    },
  );
}

export function removeItem(text: string, name: string, index: number): TextChange | undefined {
  return changeField(
    text,
    name,
    (field) => ({ items: field.items.toSpliced(index, 1) }),
    ({ node, key }, yaml) => {
      if (!isSeq(node)) return undefined;
      const { items } = node as YAMLSeq;
      const [from, to] = rangeOf(items[index]);
      if (node.flow) {
        if (items.length === 1) return { from, to, insert: '' };
        if (index + 1 < items.length) return { from, to: rangeOf(items[index + 1])[0], insert: '' };
        return { from: rangeOf(items[index - 1])[1], to, insert: '' };
      }
      if (items.length === 1) return { from: colonBehind(key, yaml), to, insert: ' []' };
      return { from: lineStart(yaml, from), to: lineEnd(yaml, to) + 1, insert: '' };
    },
  );
}

/** Adds a field without a value after the other fields. */
export function addProperty(text: string, name: string): TextChange | undefined {
  const { yaml, start } = yamlOf(text);
  const before = readFields(yaml);
  if (!before || name === '' || before.some((field) => field.name === name)) return undefined;
  const change = insertAt(yaml.length, `${written(name, true)}:\n`);
  const after = readFields(applied(yaml, change));
  const isMeant =
    after?.length === before.length + 1 && after.at(-1)?.name === name && areSame(before, after.slice(0, -1));
  return isMeant ? moved(change, start) : undefined;
}

/** Removes a field with the lines of its value. */
export function removeProperty(text: string, name: string): TextChange | undefined {
  const { yaml, start } = yamlOf(text);
  const before = readFields(yaml);
  const index = before?.findIndex((field) => field.name === name) ?? -1;
  const field = before?.[index];
  if (!before || !field) return undefined;
  const from = lineStart(yaml, rangeOf(field.key)[0]);
  const next = before[index + 1];
  // Comments above the next field belong to it.
  const upTo = next ? lineStart(yaml, rangeOf(next.key)[0]) : yaml.length;
  const lines = yaml.slice(from, upTo).split(/(?<=\n)/);
  while (lines.length > 1 && /^\s*(?:#.*)?$/.test((lines.at(-1) ?? '').trimEnd())) lines.pop();
  const change = { from, to: from + lines.join('').length, insert: '' };
  const after = readFields(applied(yaml, change));
  return after && areSame(before.toSpliced(index, 1), after) ? moved(change, start) : undefined;
}

function changeField(
  text: string,
  name: string,
  expected: Expected | ((field: Field) => Expected),
  change: (field: Field, yaml: string) => TextChange | undefined,
): TextChange | undefined {
  const { yaml, start } = yamlOf(text);
  const before = readFields(yaml);
  const index = before?.findIndex((field) => field.name === name) ?? -1;
  const field = before?.[index];
  const made = field && change(field, yaml);
  if (!before || !field || !made) return undefined;
  const after = readFields(applied(yaml, made));
  const now = after?.[index];
  if (!after || !now || now.kind === 'other') return undefined;
  const meant = typeof expected === 'function' ? expected(field) : expected;
  const isMeant =
    areSame([{ ...field, ...meant }], [now]) && areSame(before.toSpliced(index, 1), after.toSpliced(index, 1));
  return isMeant ? moved(made, start) : undefined;
}

function areSame(fields: readonly Field[], others: readonly Field[]): boolean {
  const shown = (all: readonly Field[]) => JSON.stringify(all.map(({ name, value, items }) => [name, value, items]));
  return shown(fields) === shown(others);
}

/** Writes a text as YAML, without quotes if YAML reads it back unchanged without them. */
function written(text: string, isInFlow = false): string {
  const { contents, errors, comment } = parseDocument(isInFlow ? `[${text}]` : `- ${text}`, { logLevel: 'silent' });
  const [item, ...more] = isSeq(contents) ? contents.items : [];
  const isItself =
    errors.length === 0 &&
    !comment &&
    more.length === 0 &&
    isScalar(item) &&
    item.type === Scalar.PLAIN &&
    item.value !== null &&
    item.source === text &&
    item.comment === undefined;
  return isItself ? text : JSON.stringify(text);
}

function rangeOf(node: unknown): [number, number] {
  const [from, to] = (node as { range?: [number, number, number] | null } | undefined)?.range ?? [0, 0];
  return [from, to];
}

function colonBehind(key: Scalar, yaml: string): number {
  return yaml.indexOf(':', rangeOf(key)[1]) + 1;
}

function lineStart(yaml: string, at: number): number {
  return yaml.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(yaml: string, at: number): number {
  const end = yaml.indexOf('\n', at);
  return end < 0 ? yaml.length : end;
}

const insertAt = (at: number, insert: string): TextChange => ({ from: at, to: at, insert });
const applied = (yaml: string, { from, to, insert }: TextChange) => yaml.slice(0, from) + insert + yaml.slice(to);
const moved = ({ from, to, insert }: TextChange, by: number) => ({ from: from + by, to: to + by, insert });
