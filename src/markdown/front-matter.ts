import type { Literal, Root } from 'mdast';
import { parseDocument } from 'yaml';
import { DESCRIPTION_MAX, oneLine, TITLE_MAX } from './plain-text.ts';

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

export interface FrontMatter {
  title: string;
  description: string;
  language: string;
}

/**
 * Title, description and language from the front matter (YAML or TOML), "" for missing ones. Broken or oversized front matter is
 * ignored.
 */
export function readFrontMatter(tree: Root): FrontMatter {
  const [first] = tree.children;
  const field = fieldsOf(first);
  return {
    title: oneLine(field('title'), TITLE_MAX),
    description: oneLine(field('description'), DESCRIPTION_MAX),
    // BCP 47 tags are at most 35 characters in practice (RFC 5646, section 4.4.1).
    language: /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i.exec(field('lang'))?.[0].slice(0, 35) ?? '',
  };
}

type Fields = (name: string) => string;

function fieldsOf(node: Root['children'][number] | undefined): Fields {
  if ((node?.type !== 'yaml' && node?.type !== 'toml') || node.value.length > FRONT_MATTER_MAX) return () => '';
  return node.type === 'yaml' ? pickFields(node.value) : (name) => tomlField(node.value, name);
}

/** A string of TOML (Hugo) before its first table. */
function tomlField(toml: string, name: string): string {
  const [top = ''] = toml.split(/^[ \t]*\[/m, 1);
  const [, quoted, literal] =
    new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*(?:"((?:[^"\\\\\\n]|\\\\.)*)"|'([^'\\n]*)')`, 'm').exec(top) ?? [];
  return literal ?? quoted?.replace(/\\(["\\])/g, '$1') ?? '';
}

/** Reads single fields without converting the document to objects, so aliases are never expanded. */
function pickFields(yaml: string): Fields {
  try {
    const document = parseDocument(yaml, { logLevel: 'silent', uniqueKeys: false });
    if (document.errors.length > 0) return () => '';
    return (name) => {
      const value = document.get(name);
      return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    };
  } catch {
    // Deeply nested YAML overflows the parser's stack; it is ignored like other broken YAML.
    return () => '';
  }
}
