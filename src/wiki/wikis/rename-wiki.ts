import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { readTitle } from '../../platform/core/titles.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import {
  exampleWiki,
  OrganizationWiki,
  readDescription,
  toOrganizationWiki,
  type Wiki,
  wikiColumns,
} from './schema.ts';

export const renameWiki = endpoint({
  method: 'PATCH',
  path: '/v1/wikis/:wiki_id',
  summary: 'Rename a wiki',
  description: 'The slug does not change, so links keep working. An omitted description does not change, either.',
  access: onWiki('wikis:manage', { orCreator: true }),
  event: 'wiki.renamed',
  params: WikiParams,
  body: Type.Object({ title: InputText({ minLength: 1 }), description: Type.Optional(InputText()) }),
  reply: OrganizationWiki,
  errors: ['invalid_title', 'invalid_request'],
  example: { body: { title: 'Handbook' }, reply: { ...toOrganizationWiki(exampleWiki), title: 'Handbook' } },
  run: async ({ body, one, refuse }) => {
    const title = readTitle(body.title);
    if (title instanceof ApiError) return refuse(title);
    const description = readDescription(body.description);
    if (description instanceof ApiError) return refuse(description);
    const renamed = await one<Wiki>({
      // Lock the row so that concurrent renames run one after another and each audits the title it replaced.
      // A wiki that was deleted in the meantime belongs to no workspace.
      before: sql`
        select ${wikiColumns} from wikis w join access on w.wiki_id = access.wiki_id
        where w.workspace_id is not null for update of w`,
      result: sql`
        update wikis w set title = ${title}, description = coalesce(${description ?? null}, w.description)
        from before where w.wiki_id = before.wiki_id returning ${wikiColumns}`,
    });
    return toOrganizationWiki(renamed);
  },
});
