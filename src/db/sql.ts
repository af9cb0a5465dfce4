/** A fragment of SQL: text around placeholders. Values never become text; nested fragments are spliced in. */
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

/** Tags plain SQL. `${value}` becomes a placeholder, `${sql`…`}` is spliced in. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new Fragment(strings, values);
}

const rawFragments = new Map<string, Sql>();

/** SQL text from the program's own source (names, constants), never from input. */
export function raw(text: string): Sql {
  let fragment = rawFragments.get(text);
  if (fragment === undefined) rawFragments.set(text, (fragment = new Fragment([text], [])));
  return fragment;
}

/** The format of the driver: text with $1, $2, … and the values in that order. */
interface Statement {
  text: string;
  values: unknown[];
}

/** A trie of the statement texts built so far, keyed by their pieces; each piece is one place in the source. */
interface Written {
  text: string | undefined;
  next: Map<readonly string[] | typeof VALUE, Written>;
}

const VALUE = Symbol('a placeholder');
const written: Written = { text: undefined, next: new Map() };

/** Equal statements get the same string object: each text is built once. */
export function toStatement(fragment: Sql): Statement {
  const values: unknown[] = [];
  const place = follow(written, fragment, values);
  place.text ??= write(fragment, { placeholders: 0 });
  return { text: place.text, values };
}

function follow(from: Written, fragment: Sql, values: unknown[]): Written {
  let place = step(from, fragment.strings);
  for (const value of fragment.values) {
    if (value instanceof Fragment) place = follow(place, value, values);
    else {
      place = step(place, VALUE);
      values.push(value);
    }
  }
  return place;
}

function step(from: Written, piece: readonly string[] | typeof VALUE): Written {
  let place = from.next.get(piece);
  if (place === undefined) from.next.set(piece, (place = { text: undefined, next: new Map() }));
  return place;
}

function write(fragment: Sql, count: { placeholders: number }): string {
  let text = fragment.strings[0] ?? '';
  for (const [i, value] of fragment.values.entries()) {
    if (value instanceof Fragment) text += write(value, count);
    else text += `$${++count.placeholders}`;
    text += fragment.strings[i + 1];
  }
  return text;
}
