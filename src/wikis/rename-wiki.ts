import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { ApiError } from '../core/errors.ts';
import { Id, Record, Text, WikiParams } from '../core/records.ts';
import { readTitle } from '../core/titles.ts';
import { raw, sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleWiki } from './schema.ts';

const RenamedWiki = Record({
  organization_id: Id,
  slug: Type.String(),
  title: Type.String(),
  wiki_id: Id,
  description: Text,
});

const { workspace_id: organization_id, ...example } = exampleWiki;

const renamedColumns = raw('w.workspace_id as organization_id, w.wiki_id, w.slug, w.title, w.description');

/** The slug stays as it was, so that links keep working. */
export const renameWiki = endpoint({
  method: 'PATCH',
  path: '/v1/wikis/:wiki_id',
  summary: 'Rename a wiki',
  access: onWiki('wikis:manage', { orCreator: true }),
  event: 'wiki.renamed',
  params: WikiParams,
  body: Type.Object({ title: Type.String({ minLength: 1 }) }),
  reply: RenamedWiki,
  errors: ['invalid_title'],
  example: { body: { title: 'Handbook' }, reply: { ...example, organization_id, title: 'Handbook' } },
  run: ({ body, one, refuse }) => {
    const title = readTitle(body.title);
    if (title instanceof ApiError) return refuse(title);
    return one({
      // Locked, so that of several renames at once each finds what the one before it left.
      before: sql`select ${renamedColumns} from wikis w join access on w.wiki_id = access.wiki_id for update of w`,
      result: sql`update wikis w set title = ${title} from before where w.wiki_id = before.wiki_id returning ${renamedColumns}`,
    });
  },
});
