import { escapeHtml } from '../core/escape-html.ts';
import type { FullPage } from './schema.ts';

/**
 * A page as a document of its own. The base is the page's path, so that the relative links of a page lead to its
 * neighbours also when it was asked for by its id.
 */
export function pageDocument(page: FullPage): string {
  const { title, html } = page;
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<base href="${escapeHtml(pageAddress(page))}">
</head>
<body>
${html}
</body>
</html>
`;
}

/** Where a page is read by its path. */
export function pageAddress({ wiki_id, path }: { wiki_id: string; path: string }): string {
  return `/v1/wikis/${wiki_id}/pages/path/${path}`;
}
