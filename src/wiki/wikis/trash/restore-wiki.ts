import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { candidatesForAttempt, SLUG_ATTEMPTS, slugCandidates } from '../../../platform/core/chosen-slug.ts';
import { ApiError, notFound } from '../../../platform/core/errors.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { exampleWiki, Wiki } from '../schema.ts';
import { restorable } from './schema.ts';

export const restoreWiki = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/deleted-wikis/:wiki_id/restore',
  summary: 'Restore a deleted wiki',
  description:
    'With its pages, their history, attachments and sources; its jobs go on. If another wiki has its slug by now, it gets a numbered one.',
  access: onWorkspace('wikis:create'),
  event: 'wiki.restored',
  params: Type.Object({ workspace_id: Id, wiki_id: Id }),
  reply: Wiki,
  errors: ['not_found', 'quota_exceeded'],
  example: { reply: exampleWiki },
  run: ({ params, transaction }) =>
    transaction(async (tx) => {
      const deleted = await tx.maybeOne<{ slug: string }>(
        sql`select r.slug from (${restorable}) r where r.wiki_id = ${params.wiki_id}`,
      );
      if (!deleted) throw notFound();
      const numbered = slugCandidates(null, deleted.slug, 'wiki');
      if (numbered instanceof ApiError) throw numbered;
      for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt += 1) {
        const slugs = candidatesForAttempt(attempt, [deleted.slug, ...numbered]);
        const [restored] = await tx.many<Wiki>({
          before: sql`
            select r.wiki_id, r.slug, a.workspace_id as deleted_from, r.deleted_at
            from access a, (${restorable}) r where r.wiki_id = ${params.wiki_id}`,
          restored: sql`
            select r.wiki_id, r.title, r.description, a.workspace_id, restore_wiki(r.wiki_id, ${slugs}::text[]) as slug
            from access a, (${restorable}) r where r.wiki_id = ${params.wiki_id}`,
          after: sql`select r.wiki_id, r.slug, r.workspace_id from restored r where r.slug <> ''`,
          result: sql`
            select r.wiki_id, r.workspace_id, r.slug, r.title, r.description from restored r where r.slug <> ''`,
        });
        if (restored) return restored;
      }
      throw notFound();
    }),
});
