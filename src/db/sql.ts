/** A piece of SQL: text around placeholders. Values never become text; a nested piece is spliced in. */
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

/** SQL text that the program itself wrote (names, constants of the code), never anything from outside. */
export function raw(text: string): Sql {
  let fragment = rawFragments.get(text);
  if (fragment === undefined) rawFragments.set(text, (fragment = new Fragment([text], [])));
  return fragment;
}

/** What the driver takes: text with $1, $2, … and the values in that order. */
interface Statement {
  text: string;
  values: unknown[];
}

/** The texts that were written so far, found by the pieces that they are made of, each of which is one place in the code. */
interface Written {
  text: string | undefined;
  next: Map<readonly string[] | typeof VALUE, Written>;
}

const VALUE = Symbol('a placeholder');
const written: Written = { text: undefined, next: new Map() };

/** The same statement has the same text, character for character and object for object: it is written once. */
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
