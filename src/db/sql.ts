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

/** SQL text that the program itself wrote (names, constants of the code), never anything from outside. */
export function raw(text: string): Sql {
  return new Fragment([text], []);
}

/** What the driver takes: text with $1, $2, … and the values in that order. */
export interface Statement {
  text: string;
  values: unknown[];
}

export function toStatement(fragment: Sql): Statement {
  const values: unknown[] = [];
  return { text: write(fragment, values), values };
}

function write(fragment: Sql, values: unknown[]): string {
  let text = fragment.strings[0] ?? '';
  for (let i = 0; i < fragment.values.length; i += 1) {
    const value = fragment.values[i];
    if (value instanceof Fragment) text += write(value, values);
    else text += `$${values.push(value)}`;
    text += fragment.strings[i + 1];
  }
  return text;
}
