import { isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** The top-level fields of front matter, in order: values and lists of values, as written. */
export type Fields = ReadonlyMap<string, string | readonly string[]>;

export const NO_FIELDS: Fields = new Map();

/**
 * Reads the fields of YAML. Nodes are not converted to objects, so aliases are never expanded. Broken YAML is read line
 * by line.
 */
export function yamlFields(yaml: string): Fields {
  return readYaml(yaml) ?? fieldsOfLines(yaml);
}

/** Tells whether the YAML parser rejects a text, so that it can only be read line by line. */
export function isBrokenYaml(yaml: string): boolean {
  return readYaml(yaml) === undefined;
}

function readYaml(yaml: string): Fields | undefined {
  try {
    const { contents, errors } = parseDocument(yaml, { logLevel: 'silent', uniqueKeys: false });
    if (errors.length > 0) return undefined;
    if (!isMap(contents)) return NO_FIELDS;
    const fields = new Map<string, string | string[]>();
    for (const { key, value } of contents.items) {
      const name = scalarOf(key);
      if (!fields.has(name)) fields.set(name, isSeq(value) ? value.items.map(scalarOf) : scalarOf(value));
    }
    return fields;
  } catch {
    // Deeply nested YAML overflows the parser's stack: treat it as broken.
    return undefined;
  }
}

/** `name: value`. The value may contain another colon or begin with a character that YAML reserves. */
const LINE = /^([\w][\w .-]{0,99}?)[ \t]*:(?:[ \t]+(.*))?$/;
const ITEM = /^[ \t]*-[ \t]+(.*)$/;

function fieldsOfLines(yaml: string): Fields {
  const fields = new Map<string, string | string[]>();
  let last = '';
  for (const line of yaml.split(/\r?\n/)) {
    const [, item] = ITEM.exec(line) ?? [];
    const [, name = '', value = ''] = item === undefined ? (LINE.exec(line) ?? []) : [];
    const list = fields.get(last);
    if (item !== undefined && last !== '') {
      if (Array.isArray(list)) list.push(plainValue(item));
      else if (list === '') fields.set(last, [plainValue(item)]);
    } else if (name !== '' && !fields.has(name)) {
      last = name;
      const [, items] = /^\[(.*)\]$/.exec(value.trim()) ?? [];
      fields.set(name, items === undefined ? plainValue(value) : items.split(',').map(plainValue));
    }
  }
  return fields;
}

function plainValue(value: string): string {
  // The list or map continues on further lines.
  if (/^\s*[[{][^\]}]*$/.test(value)) return '';
  return value.trim().replace(/^(["'])(.*)\1$/, '$2');
}

/**
 * Returns a scalar as written, because `1.10` is not `1.1` to a reader; "" for null and for nodes that are no scalars.
 */
function scalarOf(node: unknown): string {
  if (!isScalar(node) || node.value === null || typeof node.value === 'object') return '';
  return node.source ?? String(node.value);
}

const STRING = String.raw`"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'`;
const TOML_FIELD = new RegExp(
  String.raw`^[ \t]*([\w-]+)[ \t]*=[ \t]*(?:${STRING}|(\[[^[\]]*\])|([\w:.+-]+))[ \t]*(?:#.*)?$`,
  'gm',
);

/** Returns the fields of TOML (Hugo) before its first table. */
export function tomlFields(toml: string): Fields {
  const [top = ''] = toml.split(/^[ \t]*\[/m, 1);
  const fields = new Map<string, string | string[]>();
  for (const [, name = '', quoted, literal, list, bare] of top.matchAll(TOML_FIELD)) {
    if (list === undefined) fields.set(name, literal ?? bare ?? unescaped(quoted));
    else
      fields.set(
        name,
        [...list.matchAll(new RegExp(STRING, 'g'))].map(([, text, raw]) => raw ?? unescaped(text)),
      );
  }
  return fields;
}

function unescaped(text = ''): string {
  return text.replace(/\\(["\\])/g, '$1');
}
