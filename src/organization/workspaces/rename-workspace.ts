import { RESERVED_SLUGS } from '@ibid/markdown/slugs/slug.ts';
import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { slugCandidates } from '../../platform/core/chosen-slug.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { readName } from '../../platform/core/titles.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace, toWorkspace, Workspace, type WorkspaceRow } from './schema.ts';

/** The replaced slug stays an address of the workspace (`keep_slug`). */
export const renameWorkspace = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/:workspace_id',
  summary: 'Rename a workspace',
  description:
    'Changes only the given fields. The last ten slugs of a workspace resolve to the current one in the web application and in `GET /v1/workspaces/lookup`, and no other workspace can take them.',
  access: onWorkspace('enterprise:manage'),
  event: 'workspace.renamed',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({
    name: Type.Optional(InputText({ minLength: 1 })),
    slug: Type.Optional(InputText()),
  }),
  reply: Workspace,
  errors: ['invalid_name', 'invalid_slug', 'slug_taken'],
  example: {
    body: { name: 'Acme Engineering', slug: 'acme' },
    reply: { ...exampleWorkspace, name: 'Acme Engineering' },
  },
  run: async ({ body, many, maybeOne, refuse }) => {
    const name = body.name === undefined ? undefined : readName(body.name);
    if (name instanceof ApiError) return refuse(name);
    // Accept an unchanged slug even if it has become a reserved word.
    const slugs = body.slug === undefined ? undefined : slugCandidates(body.slug, '', 'workspace', new Set());
    if (slugs instanceof ApiError) return refuse(slugs);
    const slug = slugs?.[0];
    const [renamed] = await many<WorkspaceRow & { granted: string[] | null }>({
      // An update of the slug needs the stronger lock; upgrading it later could deadlock with a joining member.
      before: sql`
        select w.workspace_id, w.name, w.slug from workspaces w join access a on a.workspace_id = w.workspace_id
        where w.deleted_at is null and (${slug ?? null}::text is null or w.slug = ${slug ?? null}
          or exists (select from workspace_slugs s where s.slug = ${slug ?? null} and s.workspace_id = w.workspace_id)
          or not (${RESERVED_SLUGS.has(slug ?? '')}::boolean or slug_is_taken(${slug ?? null})))
        ${slug === undefined ? raw('for no key update of w') : raw('for update of w')}`,
      after: sql`
        update workspaces w set name = coalesce(${name ?? null}, w.name), slug = coalesce(${slug ?? null}, w.slug)
        from before where w.workspace_id = before.workspace_id
        returning w.workspace_id, w.name, w.slug`,
      result: sql`select w.*, a.role, a.granted from after w, access a`,
    });
    // The workspace may have been deleted while the statement waited for its row.
    if (!renamed && (slug === undefined || !(await maybeOne(sql`select 1 from access`)))) throw notFound();
    if (!renamed) throw new ApiError('slug_taken', `The slug "${slug}" is taken. Choose another.`);
    const { granted, ...row } = renamed;
    return toWorkspace(row, granted);
  },
});
