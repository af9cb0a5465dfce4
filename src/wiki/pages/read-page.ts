import { createHash } from 'node:crypto';
import { withCurrentLinks, withHiddenLinks } from '@ibid/markdown/page-links.ts';
import { escapeHtml } from '../../platform/core/escape-html.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { type Context, NotModified } from '../../platform/http/endpoint.ts';
import { movedLinksOfPage } from './links/moved-links.ts';
import { citedSources, FullPage, type FullPageRow, pageColumns } from './schema.ts';
import { shownPage } from './shown-page.ts';

/**
 * Returns a page as a standalone document. The base is the path of the page, so that relative links work even if the
 * page was requested by its id.
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

/** Returns the address of a page by its path. */
export function pageAddress({ wiki_id, path }: { wiki_id: string; path: string }): string {
  return `/v1/wikis/${wiki_id}/pages/path/${encodeURI(path)}`;
}

/** Hash of the schema and main functions of a page's representations. It is a part of ETags, which change with that code. */
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
 * Reads a page `p` with its current revision `r` for a GET. `from`: the rest of the statement. Reads only the part of
 * the text that the representation shows, and no text if the client has the current ETag. PostgreSQL stores texts out
 * of line and reads them only on access, so the ETag is derived from the versions of the rows. `mayBeKnown`: a further
 * condition for a 304.
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
