import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { SEES_ALL_PAGES } from '../../wiki/pages/links/sees-drafts.ts';
import { FileOfUpload } from './schema.ts';

/** Lists the received bytes and the result of each file. Files of an archive follow the archive. */
export const listFiles = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/files',
  summary: 'List the files of an upload',
  description: 'The number of bytes received and the outcome of each file.',
  access: onWiki('sources:read'),
  params: Type.Object({ wiki_id: Id, upload_id: Id }),
  query: Type.Object({
    status: Type.Optional(Type.Enum(['pending', 'done', 'failed'], { description: 'Only files with this status.' })),
    ...PAGING,
  }),
  paging: { keys: { 'f.file_no': 'integer' } },
  reply: Type.Array(FileOfUpload),
  example: {
    reply: [
      {
        file_id: 'file_01jd8w3v6xf3e8h2k9m4n5p6x1',
        filename: 'guide/setup.md',
        byte_size: 1_234,
        received: 1_234,
        status: 'done',
        error: '',
        source_id: 'source_01jd8w3v6xf3e8h2k9m4n5p6w1',
        page_path: 'guide/setup',
        page_change: 'new',
      },
    ],
  },
  run: async ({ params: { wiki_id, upload_id }, query: { status = '' }, paging, one }) => {
    const { files } = await one<{ files: FileOfUpload[] }>(sql`
      select (
        select coalesce(jsonb_agg(to_jsonb(f) order by f.file_no), '[]') from (
          select f.file_no, coalesce(f.file_id, '') as file_id, f.filename, f.byte_size,
            case when f.file_id is null then f.byte_size else f.received end as received, f.status, f.error,
            coalesce(f.source_id, '') as source_id, f.page_change,
            case when f.status = 'done' and (${SEES_ALL_PAGES} or exists (
              select from pages p where p.wiki_id = f.wiki_id and p.page_id = f.page_id and p.trashed_at is null
            )) then f.page_path else '' end as page_path
          from upload_files f
          where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind in ('file', 'archive')
            and (${status} = '' or f.status = ${status})
          ${paging.clause}
        ) f
      ) as files
      from uploads u where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id}`);
    return files;
  },
});
