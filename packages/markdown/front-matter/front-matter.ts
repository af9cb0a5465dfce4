import type { Literal, Root } from 'mdast';
import { DESCRIPTION_MAX } from '../analysis/page-terms.ts';
import { oneLine, type Property, TITLE_MAX } from '../plain-text.ts';
import { type Fields, NO_FIELDS, tomlFields, yamlFields } from './fields.ts';

/** TOML between lines of `+++`. */
interface Toml extends Literal {
  type: 'toml';
}

declare module 'mdast' {
  interface RootContentMap {
    toml: Toml;
  }
  interface FrontmatterContentMap {
    toml: Toml;
  }
}

/** Parsing YAML is not linear, and handwritten front matter is shorter. */
const FRONT_MATTER_MAX = 16_384;

/** Limits of the values read from front matter; the Markdown itself is never truncated. */
export const TAGS_MAX = 50;
export const TAG_MAX = 100;
const PROPERTIES_MAX = 50;
const NAME_MAX = 100;
const VALUE_MAX = 1_000;

const TAG_FIELDS = ['tags', 'tag', 'keywords'];
/** Fields that a page stores separately from its properties. */
const OWN_FIELDS = new Set(['title', 'description', 'lang', ...TAG_FIELDS]);

export interface FrontMatter {
  title: string;
  description: string;
  language: string;
  tags: string[];
  properties: Property[];
}

/**
 * Reads title, description and language from the front matter (YAML or TOML), "" if missing; tags as written; and the
 * other fields that are a value or a list of values. Broken YAML is read line by line, and oversized front matter is
 * ignored.
 */
export function readFrontMatter(tree: Root): FrontMatter {
  const [first] = tree.children;
  const fields = fieldsOf(first);
  const field = (name: string) => {
    const value = fields.get(name);
    return typeof value === 'string' ? value : '';
  };
  return {
    title: oneLine(field('title'), TITLE_MAX),
    description: oneLine(field('description'), DESCRIPTION_MAX),
    // BCP 47 tags are at most 35 characters in practice (RFC 5646, section 4.4.1).
    language: /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i.exec(field('lang'))?.[0].slice(0, 35) ?? '',
    tags: tagsOf(fields),
    properties: propertiesOf(fields),
  };
}

function fieldsOf(node: Root['children'][number] | undefined): Fields {
  if ((node?.type !== 'yaml' && node?.type !== 'toml') || node.value.length > FRONT_MATTER_MAX) return NO_FIELDS;
  return node.type === 'yaml' ? yamlFields(node.value) : tomlFields(node.value);
}

/** Returns each tag once, ignoring case. A string is split at commas, or at white space too if it begins with #. */
function tagsOf(fields: Fields): string[] {
  const tags = new Map<string, string>();
  for (const name of TAG_FIELDS) {
    const value = fields.get(name) ?? [];
    const given = typeof value === 'string' ? value.split(/^\s*#/.test(value) ? /[\s,]+/ : ',') : value;
    for (const each of given) {
      const tag = shown(each, TAG_MAX).replace(/^#\s*/, '');
      const key = tag.toLowerCase();
      if (tag !== '' && tags.size < TAGS_MAX && !tags.has(key)) tags.set(key, tag);
    }
  }
  return [...tags.values()];
}

function propertiesOf(fields: Fields): Property[] {
  return [...fields]
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => ({
      name: shown(name, NAME_MAX),
      value: shown(typeof value === 'string' ? value : value.filter(Boolean).join(', '), VALUE_MAX),
    }))
    .filter(({ name, value }) => name !== '' && value !== '')
    .slice(0, PROPERTIES_MAX);
}

/** Normalizes a text so that it can be stored and shown in one line. */
function shown(text: string, length: number): string {
  return oneLine(text.toWellFormed().normalize('NFC'), length);
}
