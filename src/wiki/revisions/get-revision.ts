import { wikiLinkPaths, withHiddenLinks } from '@ibid/markdown/page-links.ts';
import { onWiki } from '../../platform/access/access-rule.ts';
import { withTexts } from '../../platform/core/packed-texts.ts';
import { withoutNulls } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { SEES_ALL_PAGES } from '../pages/links/sees-drafts.ts';
import { exampleFullRevision, FullRevision, RevisionParams, revisionColumns, revisionNumber } from './schema.ts';

export const getRevision = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/revisions/:revision',
  summary: 'Get a revision',
  access: onWiki('pages:read'),
  params: RevisionParams,
  reply: FullRevision,
  example: { reply: exampleFullRevision },
  run: async ({ params, one, many }) => {
    const row = await one<RevisionRow>(sql`
      select ${revisionColumns}, r.markdown, r.html, r.outline, r.packed, r.folder,
        ${SEES_ALL_PAGES} as sees_all
      from revisions r join pages p on p.wiki_id = r.wiki_id and p.page_id = r.page_id
      where r.wiki_id = ${params.wiki_id} and r.page_id = ${params.page_id}
        and r.revision = ${revisionNumber(params.revision)} and p.trashed_at is null`);
    const { folder, sees_all, ...revision } = withoutNulls(await withTexts(row));
    if (sees_all) return revision;
    const paths = wikiLinkPaths(revision.html, folder);
    if (paths.length === 0) return revision;
    const shown = new Set(await many<{ path: string }>(visibleAt(params.wiki_id, paths)).then(pathsOf));
    return { ...revision, html: withHiddenLinks(revision, folder, (path) => !shown.has(path)) };
  },
});

interface RevisionRow extends FullRevision {
  packed: Buffer | null;
  folder: string;
  sees_all: boolean;
}

/**
 * Selects the given paths, current or former, whose page the caller may see. Links of old revisions exist only in their
 * texts.
 */
function visibleAt(wiki_id: string, paths: readonly string[]): Sql {
  return sql`
    select g.path from unnest(${paths}::text[]) g (path)
    where exists (
        select from pages p where p.wiki_id = ${wiki_id} and p.path = g.path and p.trashed_at is null)
      or exists (
        select from page_paths o join pages p on p.wiki_id = o.wiki_id and p.page_id = o.page_id
        where o.wiki_id = ${wiki_id} and o.path = g.path and p.trashed_at is null)`;
}

function pathsOf(rows: readonly { path: string }[]): string[] {
  return rows.map(({ path }) => path);
}
