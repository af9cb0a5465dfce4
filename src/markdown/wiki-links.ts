import type { Root } from 'mdast';
import { slugFrom } from '../core/slug.ts';
import { visit } from './parse-markdown.ts';
import type { WikiLinkTo } from './plain-text.ts';

/** What a page knows of its wiki while it is rendered. */
export interface Wiki {
  /** Where references to attachments lead to; "" where there is no wiki. */
  wiki_id: string;
  /** Where the page is, from which its links are written. */
  page_path: string;
  /** The page that an author means by `[[target]]`; undefined where there is none. */
  findPage(target: string): { path: string } | undefined;
}

/** A wiki in which nothing is found. */
export const NO_WIKI: Wiki = { wiki_id: '', page_path: '', findPage: () => undefined };

/** The pages that a document links to as `[[Target]]`, each target once, in the order of the text. */
export function wikiLinksOf(tree: Root, wiki: Wiki): WikiLinkTo[] {
  const paths = new Map<string, string>();
  visit(tree, (node) => {
    if (node.type !== 'wikiLink' || node.target === '' || paths.has(node.target)) return;
    paths.set(node.target, wiki.findPage(node.target)?.path ?? '');
  });
  return [...paths].map(([target, path]) => ({ target, path }));
}

/** Where the page is that `[[Guide/Set up]]` names, if it names one by its place: guide/set-up. */
export function pathOfTarget(target: string): string {
  return target
    .split('/')
    .map((part) => slugFrom(part, '-'))
    .join('/');
}

/** The address of a page as a reader's browser resolves it from another page's. */
export function relativeAddress(from: string, to: string): string {
  const base = from.split('/').slice(0, -1);
  const target = to.split('/');
  let shared = 0;
  while (shared < base.length && shared < target.length - 1 && base[shared] === target[shared]) shared += 1;
  return [...base.slice(shared).map(() => '..'), ...target.slice(shared)].join('/');
}
