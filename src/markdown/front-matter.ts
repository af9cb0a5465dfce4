import type { Root } from 'mdast';
import { parseDocument } from 'yaml';
import { DESCRIPTION_MAX, oneLine, TITLE_MAX } from './plain-text.ts';

/** Parsing YAML is not linear, and handwritten front matter is shorter. */
const FRONT_MATTER_MAX = 16_384;

export interface FrontMatter {
  title: string;
  description: string;
  language: string;
}

/**
 * Title, description and language from the YAML front matter, "" for missing ones. Broken or oversized front matter is
 * ignored.
 */
export function readFrontMatter(tree: Root): FrontMatter {
  const [first] = tree.children;
  const yaml = first?.type === 'yaml' && first.value.length <= FRONT_MATTER_MAX ? first.value : '';
  const field = yaml === '' ? () => '' : pickFields(yaml);
  return {
    title: oneLine(field('title'), TITLE_MAX),
    description: oneLine(field('description'), DESCRIPTION_MAX),
    // BCP 47 tags are at most 35 characters in practice (RFC 5646, section 4.4.1).
    language: /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i.exec(field('lang'))?.[0].slice(0, 35) ?? '',
  };
}

/** Reads single fields without converting the document to objects, so aliases are never expanded. */
function pickFields(yaml: string): (name: string) => string {
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
