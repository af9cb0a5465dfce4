import { createHash } from 'node:crypto';
import { withCurrentLinks, withHiddenLinks } from '@ibid/markdown/page-links.ts';
import { escapeHtml } from '../../platform/core/escape-html.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { type Context, NotModified } from '../../platform/http/endpoint.ts';
import { movedLinksOfPage } from './links/moved-links.ts';
import { citedSources, FullPage, type FullPageRow, pageColumns } from './schema.ts';
import { shownPage } from './shown-page.ts';

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
  return `/v1/wikis/${wiki_id}/pages/path/${encodeURI(path)}`;
}

/** What the forms of a page are made by: with another one its ETags are others. */
const FORM = createHash('sha1')
  .update([JSON.stringify(FullPage), pageDocument, withCurrentLinks, withHiddenLinks].join())
  .digest('base64url')
  .slice(0, 8);

type ReadContext = Pick<Context<unknown, unknown, unknown>, 'one' | 'known_tags' | 'media_type' | 'setHeaders'>;

interface PageRow extends FullPageRow {
  tag: string;
  is_known: boolean;
}

/**
 * Reads the page `p`, with its present revision `r`, of `from` (the rest of a statement) for a GET: of its text what the representation
 * shows, and none of it for a client that has the answer. PostgreSQL keeps the text apart from its row, and reads it only where it is
 * asked for; so the ETag is made of which versions of the rows are read. `mayBeKnown`: a condition on the page.
 */
export async function readPage(
  { one, known_tags, media_type = 'application/json', setHeaders }: ReadContext,
  from: Sql,
  mayBeKnown: Sql = raw('true'),
): Promise<FullPage | NotModified> {
  const shown = (column: Sql, isShown: boolean) =>
    isShown ? sql`case when k.is_known then '' else ${column} end` : raw("''");
  const { tag, is_known, ...page } = await one<PageRow>(sql`
    select ${pageColumns}, p.folder, p.moved, p.citations, t.tag, k.is_known,
      ${shown(media_type === 'text/html' ? raw("case when p.moved is null then '' else p.markdown end") : raw('p.markdown'), true)} as markdown,
      ${shown(raw('p.html'), media_type !== 'text/markdown')} as html,
      case when k.is_known or ${media_type !== 'application/json'} then '[]' else p.outline end as outline
    from (
      select ${pageColumns}, r.markdown, r.html, r.outline, r.folder, ${movedLinksOfPage} as moved, ${citedSources} as citations,
        p.xmin as page_version, r.xmin as text_version
      from ${from} offset 0
    ) p
    cross join lateral (
      select '"' || p.revision || '-' || left(encode(sha256(convert_to(concat_ws(' ', p.page_version, p.text_version, p.updated_at,
        p.moved, p.citations, ${`${FORM} ${media_type}`}::text), 'UTF8')), 'hex'), 20) || '"' as tag offset 0) t
    cross join lateral (select array[t.tag, '*'] && ${known_tags}::text[] and ${mayBeKnown} as is_known offset 0) k`);
  setHeaders({ etag: tag });
  return is_known ? new NotModified() : shownPage(page);
}
