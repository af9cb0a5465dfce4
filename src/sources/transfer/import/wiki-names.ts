import type { PageLink } from '@ibid/markdown/page-links.ts';
import { possibleWikiTargets } from '@ibid/markdown/wiki-link-syntax.ts';
import { pathOfTarget } from '@ibid/markdown/wiki-links.ts';

/** Far more targets than any real text has; the rest are shown as missing. */
const TARGETS_MAX = 2_000;

interface Named {
  page_id: string;
  path: string;
  title: string;
  former_paths: readonly string[];
}

/** Resolves paths and wiki links in a wiki whose pages are all known, by the same rules as for single pages. */
export function namesOfWiki(pages: readonly Named[]) {
  const idAt = new Map<string, string>();
  const pathTitled = new Map<string, string>();
  for (const { page_id, path, title } of pages) {
    idAt.set(path, page_id);
    const known = pathTitled.get(title.toLowerCase());
    if (known === undefined || path.length < known.length) pathTitled.set(title.toLowerCase(), path);
  }
  // Current paths take precedence over former ones.
  for (const { page_id, former_paths } of pages) {
    for (const path of former_paths) if (!idAt.has(path)) idAt.set(path, page_id);
  }
  const present = new Set(pages.map(({ path }) => path));
  const pathOf = (target: string) => {
    const path = pathOfTarget(target);
    return present.has(path) ? path : pathTitled.get(target.toLowerCase());
  };
  return {
    /** Returns the paths of pages that the wiki links of a text resolve to, by target. */
    targetsOf(markdown: string): Map<string, string> {
      const known = new Map<string, string>();
      for (const target of possibleWikiTargets(markdown).slice(0, TARGETS_MAX)) {
        const path = pathOf(target);
        if (path !== undefined) known.set(target, path);
      }
      return known;
    },
    resolved<T extends PageLink>(links: readonly T[]): (T & { to_page_id: string | null })[] {
      return links.map((link) => ({ ...link, to_page_id: idAt.get(link.to_path) ?? null }));
    },
  };
}
