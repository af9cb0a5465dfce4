import { onWiki } from '../../../platform/access/access-rule.ts';
import { pageSlugCandidates } from '../../../platform/core/chosen-slug.ts';
import { ApiError, notFound } from '../../../platform/core/errors.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { asPathError } from '../page-input.ts';
import { freeSlug, moveCtes, refuseUnmanaged, resolvePendingLinks, subtree, unmanagedParts } from '../place-page.ts';
import { exampleFullPage, FullPage, type FullPageRow, fullPageById, PageParams, pageColumns } from '../schema.ts';
import { shownPage } from '../shown-page.ts';

interface Trashed {
  /** Restrictions inside that the caller does not manage. */
  parts: number;
  /** Whether the page would leave the restriction of its parent, which is in the trash. */
  leaves: boolean;
  path: string;
  slug: string;
  is_trashed: boolean;
  trashed_with: string;
  /** Null if the parent is missing or in the trash, and at the root. */
  parent_page_id: string | null;
  parent_path: string | null;
}

/** For the audit log, which stores empty values instead of null. */
const trashColumns = sql`coalesce(to_jsonb(p.trashed_at), '""') as trashed_at, coalesce(p.trashed_by, '') as trashed_by,
  coalesce(p.trashed_with, '') as trashed_with`;

export const restorePage = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/pages/:page_id/restore',
  summary: 'Restore a page',
  description:
    'Restores a page from the trash, with the pages below it that were deleted together with it. The page returns to its former ' +
    'place; to the root if its parent no longer exists, and with another slug if its own is taken. 409 if the parent is ' +
    'restricted and in the trash, because the page would be open at the root.',
  access: onWiki('pages:write'),
  event: 'page.restored',
  params: PageParams,
  reply: FullPage,
  errors: ['conflict', 'invalid_request'],
  example: { reply: exampleFullPage },
  run: ({ params, transaction }) =>
    transaction(async (tx) => {
      const { wiki_id, page_id } = params;
      const page = await tx.maybeOne<Trashed>(sql`
        select p.path, p.slug, p.trashed_at is not null as is_trashed, p.trashed_with, n.page_id as parent_page_id,
          n.path as parent_path, ${unmanagedParts(params)} as parts, leaves_acl(p.wiki_id, p.page_id, n.page_id) as leaves
        from pages p
        left join pages n on n.wiki_id = p.wiki_id and n.page_id = p.parent_page_id and n.trashed_at is null
        where p.wiki_id = ${wiki_id} and p.page_id = ${page_id}`);
      if (!page) throw notFound();
      if (!page.is_trashed) throw new ApiError('conflict', 'This page is not in the trash.');
      refuseUnmanaged(page.parts);
      if (page.leaves)
        throw new ApiError('conflict', 'The page above is restricted and in the trash. Restore it first.');
      // The original slug first, then numbered slugs; there are enough that one is free.
      const numbered = pageSlugCandidates(undefined, page.slug, new Set([page.slug])) as string[];
      await tx
        .one({
          before: sql`
            select ${pageColumns}, ${trashColumns} from pages p join access a on a.wiki_id = p.wiki_id
            where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is not null
            for no key update of p`,
          below: subtree(wiki_id, page_id),
          free: freeSlug(wiki_id, [page.slug, ...numbered], sql`${page.parent_path}::text`),
          edited: sql`
            update pages p set trashed_at = null, trashed_by = null, trashed_with = null, slug = f.slug,
              parent_page_id = ${page.parent_page_id}::text, parent_path = ${page.parent_path}::text,
              path = coalesce(${page.parent_path}::text || '/', '') || f.slug, updated_at = now(), updated_by = a.user_id
            from before, access a, free f
            where p.wiki_id = a.wiki_id and p.page_id = before.page_id
            returning p.*`,
          ...moveCtes(wiki_id, page.path, restoreColumns(page.trashed_with)),
          result: sql`select ${pageColumns}, ${trashColumns} from edited p`,
        })
        .catch((error: unknown) => {
          throw asPathError(error);
        });
      await resolvePendingLinks(tx, params);
      const restored = await tx.maybeOne<FullPageRow>(fullPageById(params));
      if (!restored) throw new Error('a restored page cannot be read');
      return shownPage(restored);
    }),
});

/** Leaves pages below in the trash if they were trashed separately. */
function restoreColumns(trashed_with: string): Sql {
  const isBack = sql`c.trashed_with is not distinct from ${trashed_with}::text`;
  return sql`, trashed_at = case when ${isBack} then null else c.trashed_at end,
        trashed_by = case when ${isBack} then null else c.trashed_by end,
        trashed_with = case when ${isBack} then null else c.trashed_with end`;
}
