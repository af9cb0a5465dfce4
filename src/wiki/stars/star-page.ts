import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { exampleStarredPage, STARRED_PAGES_MAX, StarredPage, starredPageColumns } from './schema.ts';

export const starPage = endpoint({
  method: 'PUT',
  path: '/v1/wikis/:wiki_id/starred-pages/:page_id',
  summary: 'Star a page',
  description: `Stars a page for the caller, who can star at most ${STARRED_PAGES_MAX} in a wiki. Starring a page again has no effect.`,
  access: onWiki('pages:read', { unlimited: true }),
  event: 'star.added',
  params: PageParams,
  reply: StarredPage,
  errors: ['conflict'],
  example: { reply: exampleStarredPage },
  run: ({ params: { wiki_id, page_id }, one }) =>
    one<StarredPage>({
      s: sql`
        insert into starred_pages as s (wiki_id, user_id, page_id)
        select p.wiki_id, a.user_id, p.page_id from access a
        join pages p on p.wiki_id = a.wiki_id and p.page_id = ${page_id}
        where p.trashed_at is null
        on conflict (wiki_id, user_id, page_id) do update set created_at = s.created_at
        returning s.*`,
      // The audit record names the page and omits its content.
      after: sql`select s.page_id, s.wiki_id from s`,
      result: sql`select ${starredPageColumns} from s join pages p on p.wiki_id = ${wiki_id} and p.page_id = s.page_id`,
    }).catch((error: unknown) => {
      if ((error as { constraint?: string }).constraint !== 'starred_pages_of_a_person') throw error;
      throw new ApiError(
        'conflict',
        `You have starred ${STARRED_PAGES_MAX} pages of this wiki, the maximum. Unstar some of them.`,
      );
    }),
});
