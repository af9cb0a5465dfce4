import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { candidatesForAttempt, SLUG_ATTEMPTS, slugCandidates, slugTaken } from '../../platform/core/chosen-slug.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { readTitle } from '../../platform/core/titles.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWiki, readDescription, Wiki, wikiColumns } from './schema.ts';

export const createWiki = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/wikis',
  summary: 'Create a wiki',
  access: onWorkspace('wikis:create'),
  event: 'wiki.created',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({
    title: InputText({ minLength: 1 }),
    slug: Type.Optional(Type.Union([InputText(), Type.Null()])),
    description: Type.Optional(InputText()),
  }),
  status: 201,
  reply: Wiki,
  errors: ['quota_exceeded', 'invalid_title', 'invalid_slug', 'invalid_request', 'slug_taken'],
  example: {
    body: { title: 'Handbook', slug: 'handbook' },
    reply: { ...exampleWiki, slug: 'handbook', title: 'Handbook' },
  },
  run: async ({ params, body, many, refuse }) => {
    const title = readTitle(body.title);
    if (title instanceof ApiError) return refuse(title);
    const description = readDescription(body.description ?? '');
    if (description instanceof ApiError) return refuse(description);
    const slugs = slugCandidates(body.slug, title, 'wiki');
    if (slugs instanceof ApiError) return refuse(slugs);
    for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt += 1) {
      const [made] = await many<Wiki>({
        free: sql`
          select slug from unnest(${candidatesForAttempt(attempt, slugs)}::text[]) with ordinality candidate (slug, place)
          where not exists (
            select from wikis w where w.workspace_id = ${params.workspace_id} and w.slug = candidate.slug)
          order by place limit 1`,
        result: sql`
          insert into wikis as w (wiki_id, workspace_id, slug, title, description, created_by)
          select ${newId('wiki')}, access.workspace_id, free.slug, ${title}, ${description}, access.user_id
          from access, free
          on conflict (workspace_id, slug) where workspace_id is not null do nothing
          returning ${wikiColumns}`,
      });
      if (made) return made;
      if (typeof body.slug === 'string') throw slugTaken(body.slug);
    }
    throw new Error('every slug was taken');
  },
});
