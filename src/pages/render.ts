import GithubSlugger from 'github-slugger';
import type { Element, Root as Html, Nodes } from 'hast';
import { raw } from 'hast-util-raw';
import { defaultSchema, type Schema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import type { Root as Markdown } from 'mdast';
import { toHast } from 'mdast-util-to-hast';
import remarkFrontmatter from 'remark-frontmatter';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { parse as parseYaml } from 'yaml';
import { countWords, type OutlineEntry, type Rendered } from './plain-text.ts';

/** CommonMark with GitHub's extensions and front matter. */
const parser = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ['yaml']).freeze();

/** Ids that come with the text are kept apart from those of the page around it. */
const ID_PREFIX = 'user-content-';

/**
 * GitHub's list of what may stay, without `name`, which is how an image gets between a document and its own properties.
 * Headings get their ids from us, after everything else is decided.
 */
const SAFE: Schema = {
  ...defaultSchema,
  clobberPrefix: ID_PREFIX,
  attributes: {
    ...defaultSchema.attributes,
    '*': (defaultSchema.attributes?.['*'] ?? []).filter((attribute) => attribute !== 'name'),
  },
};

const DESCRIPTION_MAX = 300;
const FRONT_MATTER_MAX = 65_536;

export function parseMarkdown(markdown: string): Markdown {
  return parser.parse(markdown);
}

/** Markdown as a safe page. Follows CommonMark and GFM; raw HTML is kept as far as it is harmless. */
export function renderMarkdown(markdown: string): Rendered {
  return renderTree(parseMarkdown(markdown));
}

/**
 * A parsed text as a safe page. Sanitizing happens on the tree, after raw HTML was parsed as a browser would parse it;
 * what follows only adds attributes with values of our own.
 */
export function renderTree(tree: Markdown): Rendered {
  const front = readFrontMatter(tree);
  let html = toHast(tree, { allowDangerousHtml: true, clobberPrefix: ID_PREFIX }) as Html;
  if (holdsRaw(html)) html = raw(html) as Html;
  html = sanitize(html, SAFE) as Html;
  const { text, outline, paragraph } = finish(html);
  return {
    html: toHtml(html),
    text,
    outline,
    word_count: countWords(text),
    title: front.title || (outline[0]?.text ?? ''),
    description: front.description || paragraph,
    language: front.language,
  };
}

function holdsRaw(node: Nodes): boolean {
  if ((node.type as string) === 'raw') return true;
  return 'children' in node && node.children.some((child) => holdsRaw(child));
}

const BLOCKS = new Set(
  'address article aside blockquote br dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

/** One walk for everything that is left: ids of headings, `rel` of links, the plain text and the outline. */
function finish(root: Html): { text: string; outline: OutlineEntry[]; paragraph: string } {
  const slugger = new GithubSlugger();
  const outline: OutlineEntry[] = [];
  let text = '';
  let paragraph = '';

  function visit(node: Nodes): void {
    if (node.type === 'text') text += node.value;
    if (node.type !== 'element' && node.type !== 'root') return;
    const block = node.type === 'element' && BLOCKS.has(node.tagName);
    if (block && text !== '' && !text.endsWith('\n')) text += '\n';
    const start = text.length;
    for (const child of node.children) visit(child);
    if (node.type === 'element') {
      const own = text.slice(start).trim();
      if (/^h[1-6]$/.test(node.tagName)) outline.push(nameHeading(node, own, start, slugger));
      else if (node.tagName === 'p' && paragraph === '') paragraph = own.replace(/\s+/g, ' ').slice(0, DESCRIPTION_MAX);
      fixAttributes(node);
    }
    if (block && !text.endsWith('\n')) text += '\n';
  }

  visit(root);
  return { text: text.trimEnd(), outline, paragraph };
}

function nameHeading(node: Element, text: string, offset: number, slugger: GithubSlugger): OutlineEntry {
  const isFootnotes = typeof node.properties.id === 'string';
  const anchor = isFootnotes ? unprefixed(String(node.properties.id)) : slugger.slug(text) || slugger.slug('section');
  node.properties.id = anchor;
  return { level: Number(node.tagName.slice(1)), text, anchor, offset };
}

function fixAttributes(node: Element): void {
  const { properties } = node;
  if (typeof properties.id === 'string' && !/^h[1-6]$/.test(node.tagName)) properties.id = unprefixed(properties.id);
  if (Array.isArray(properties.ariaDescribedBy)) {
    properties.ariaDescribedBy = properties.ariaDescribedBy.map((id) => unprefixed(String(id)));
  }
  if (
    node.tagName === 'a' &&
    typeof properties.href === 'string' &&
    /^[a-z][a-z0-9+.-]*:|^\/\//i.test(properties.href)
  ) {
    properties.rel = ['nofollow', 'noopener', 'noreferrer'];
  }
}

/** Footnotes were given the prefix when they were made, and once more when they were sanitized. */
function unprefixed(id: string): string {
  return id.startsWith(ID_PREFIX + ID_PREFIX) ? id.slice(ID_PREFIX.length) : id;
}

/** `title`, `description` and `lang`. Front matter that is no YAML says nothing; the text is shown all the same. */
function readFrontMatter(tree: Markdown): { title: string; description: string; language: string } {
  const [first] = tree.children;
  const nothing = { title: '', description: '', language: '' };
  if (first?.type !== 'yaml' || first.value.length > FRONT_MATTER_MAX) return nothing;
  let data: unknown;
  try {
    data = parseYaml(first.value, { maxAliasCount: 10, schema: 'core', logLevel: 'silent' });
  } catch {
    return nothing;
  }
  if (typeof data !== 'object' || data === null) return nothing;
  const field = (name: string, max: number) => {
    const value = (data as Record<string, unknown>)[name];
    return typeof value === 'string' || typeof value === 'number'
      ? String(value).trim().replace(/\s+/g, ' ').slice(0, max)
      : '';
  };
  return {
    title: field('title', 255),
    description: field('description', DESCRIPTION_MAX),
    language: field('lang', 35),
  };
}
