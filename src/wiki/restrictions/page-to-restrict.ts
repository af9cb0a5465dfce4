import type { Statements } from '../../platform/access/guard.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { refuseUnmanaged, unmanagedParts } from '../pages/place-page.ts';

interface PageToRestrict {
  /** The user who makes the request. */
  caller_id: string;
  /** Whether the page itself is restricted, not only a page above it. */
  is_restricted: boolean;
  /** Whether the caller manages the nearest restriction, or there is no restriction. */
  is_managed: boolean;
  /** Number of restrictions inside that the caller does not manage. */
  parts: number;
}

/** Reads a page for a change of its access, under the lock of the wiki. Throws 404. */
export async function findPageToRestrict(
  tx: Statements,
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
): Promise<PageToRestrict> {
  const page = await tx.maybeOne<PageToRestrict>(sql`
    select a.user_id as caller_id,
      exists (select from page_acls k where k.wiki_id = p.wiki_id and k.page_id = p.page_id) as is_restricted,
      p.acl_no = 0 or exists (
        select from page_grants g
        where g.wiki_id = p.wiki_id and g.acl_no = p.acl_no and g.user_id = a.user_id and g.level = 'manage'
      ) as is_managed,
      ${unmanagedParts({ wiki_id, page_id })} as parts
    from access a join pages p on p.wiki_id = a.wiki_id and p.page_id = ${page_id}
    where p.trashed_at is null`);
  if (!page) throw notFound();
  return page;
}

/**
 * Throws 403 if the caller does not manage the nearest restriction of the page. A new restriction also closes the restricted
 * parts inside to the people whom it does not admit, so the caller must manage these too.
 */
export function refuseUnlessManaged({ is_restricted, is_managed, parts }: PageToRestrict): void {
  if (is_managed) return refuseUnmanaged(is_restricted ? 0 : parts);
  const message = is_restricted
    ? 'Only people with the level "manage" can change who has access to this page.'
    : 'The page is below a restricted page. Only people with the level "manage" there can restrict it.';
  throw new ApiError('forbidden', message);
}
