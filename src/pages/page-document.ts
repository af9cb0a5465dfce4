import type { FullPage } from './schema.ts';

/**
 * A page as a document of its own. The base is the page's path, so that the relative links of a page lead to its
 * neighbours also when it was asked for by its id.
 */
export function pageDocument({ title, html, wiki_id, path }: FullPage): string {
  const base = `/v1/wikis/${wiki_id}/pages/path/${path}`;
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<base href="${escapeHtml(base)}">
</head>
<body>
${html}
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
