/** A fragment of SQL: text with placeholders. Values never become text; nested fragments are spliced in. */
export interface Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

class Fragment implements Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** Tags plain SQL. `${value}` becomes a placeholder; `${sql`…`}` is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new Fragment(strings, values);
}

const rawFragments = new Map<string, Sql>();

/** Returns SQL text from the program's own source (names, constants), never from input. */
export function raw(text: string): Sql {
  let fragment = rawFragments.get(text);
  if (fragment === undefined) rawFragments.set(text, (fragment = new Fragment([text], [])));
  return fragment;
}

/**
 * Formats an array literal for PostgreSQL. The driver would check each element for quotes, which is slow for thousands
 * of numbers.
 */
export function arrayText(values: readonly (number | boolean)[]): string {
  return `{${values.join(',')}}`;
}

/** The format of the driver: text with $1, $2, … and the values in that order. */
interface Statement {
  text: string;
  values: unknown[];
}

/** A trie of the statement texts built so far, keyed by their fragments; each fragment is one place in the source. */
interface TextNode {
  text: string | undefined;
  next: Map<readonly string[] | typeof VALUE, TextNode>;
}

const VALUE = Symbol('a placeholder');
const root: TextNode = { text: undefined, next: new Map() };

/** Builds each text once, so equal statements share one string object. */
export function toStatement(fragment: Sql): Statement {
  const values: unknown[] = [];
  const node = findNode(root, fragment, values);
  node.text ??= buildText(fragment, { placeholders: 0 });
  return { text: node.text, values };
}

function findNode(from: TextNode, fragment: Sql, values: unknown[]): TextNode {
  let node = childOf(from, fragment.strings);
  for (const value of fragment.values) {
    if (value instanceof Fragment) node = findNode(node, value, values);
    else {
      node = childOf(node, VALUE);
      values.push(value);
    }
  }
  return node;
}

function childOf(from: TextNode, piece: readonly string[] | typeof VALUE): TextNode {
  let node = from.next.get(piece);
  if (node === undefined) from.next.set(piece, (node = { text: undefined, next: new Map() }));
  return node;
}

function buildText(fragment: Sql, count: { placeholders: number }): string {
  let text = fragment.strings[0] ?? '';
  for (const [i, value] of fragment.values.entries()) {
    if (value instanceof Fragment) text += buildText(value, count);
    else text += `$${++count.placeholders}`;
    text += fragment.strings[i + 1];
  }
  return text;
}
