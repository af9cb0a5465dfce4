import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { Bytes, type StoredFile } from '../../../platform/http/bytes.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

export const getExportContent = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/exports/:export_id/content',
  summary: 'Download an export',
  description:
    'Returns the archive; with `Range`, part of it. The id is the id of the export job. 404 before the job has completed, and after ' +
    'seven days.',
  access: onWiki('wikis:export'),
  params: Type.Object({ wiki_id: Id, export_id: Id }),
  reply: Bytes,
  errors: ['range_not_satisfiable', 'storage_unavailable'],
  example: {
    reply: {
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      byte_size: 48_211,
      content_type: 'application/zip',
      filename: 'main.zip',
      inline: false,
    },
  },
  run: async ({ params, one }) => {
    const file = await one<Pick<StoredFile, 'sha256' | 'byte_size' | 'filename'>>(sql`
      select e.sha256, e.byte_size, e.filename from exports e
      where e.wiki_id = ${params.wiki_id} and e.export_id = ${params.export_id} and e.sha256 <> '' and e.expires_at > now()
    `);
    const { sha256, byte_size, filename } = file;
    return { sha256, byte_size, filename, content_type: 'application/zip', inline: false };
  },
});
