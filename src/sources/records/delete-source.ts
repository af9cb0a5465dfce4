import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { dropPendingCte } from '../../wiki/search/index/pending.ts';
import { SourceParams, sourceColumns } from './schema.ts';

/** Keeps the stored bytes, because another wiki's source or an attachment may share them. */
export const deleteSource = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/sources/:source_id',
  summary: 'Delete a source',
  description: 'Its pages stay unchanged but become stale, because their citations can no longer be looked up.',
  access: onWiki('uploads:create'),
  event: 'source.deleted',
  params: SourceParams,
  status: 204,
  reply: Type.Null(),
  errors: ['legal_hold'],
  example: { reply: null },
  run: ({ params, transaction }) =>
    // Hold the wiki lock, as uploads do when they link pages to sources, so that no page of this source is missed or
    // counted twice.
    transaction(async (tx) => {
      await tx.one({
        before: sql`
          select ${sourceColumns} from sources s join access on access.wiki_id = s.wiki_id
          where s.source_id = ${params.source_id}`,
        pages: sql`
          update pages p set stale = true, source_count = greatest(source_count - 1, 0)
          from before b join page_sources c on c.wiki_id = b.wiki_id and c.source_id = b.source_id
          where p.wiki_id = b.wiki_id and p.page_id = c.page_id
          returning p.page_id`,
        s: sql`
          delete from sources s using before b where s.wiki_id = b.wiki_id and s.source_id = b.source_id
          returning s.source_id`,
        forgotten: dropPendingCte('source', params.wiki_id, sql`select source_id from s`),
        result: sql`select from before`,
      });
      return null;
    }),
});
