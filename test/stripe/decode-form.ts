/** A parameter of a request to Stripe: text, a list or a record. */
export type Param = string | Param[] | { [name: string]: Param };
export type Params = { [name: string]: Param };

/** Decodes Stripe's form encoding: `items[0][price]=p&metadata[a]=b` becomes `{items: [{price}], metadata}`. */
export function decodeForm(text: string): Params {
  const root: Params = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    let at = root;
    if (name.endsWith('[]')) path.push(String(Object.keys((root[path[0] ?? ''] as object) ?? {}).length));
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Params;
    }
    at[path.at(-1) ?? ''] = value;
  }
  return withLists(root) as Params;
}

/** Turns records with the names 0, 1, 2, … into lists. */
function withLists(value: Param): Param {
  if (typeof value === 'string' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withLists(item)] as const);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
