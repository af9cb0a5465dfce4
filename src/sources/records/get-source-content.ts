import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { Bytes } from '../../platform/http/bytes.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSource, type Source, SourceParams, sourceColumns } from './schema.ts';

/**
 * Serves a source as a download, because it may be any kind of file. Only PDFs are shown by the browser, in a sandbox,
 * so that a citation can link to a page.
 */
export const getSourceContent = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id/content',
  summary: "Get a source's file",
  description:
    'Returns the bytes as uploaded; with `Range`, part of them. Browsers display a PDF (`#page=3` opens that page) and download all other files.',
  access: onWiki('sources:read'),
  params: SourceParams,
  reply: Bytes,
  errors: ['range_not_satisfiable', 'storage_unavailable'],
  example: { reply: { ...exampleSource, inline: false } },
  run: async ({ params, one }) => {
    const { sha256, byte_size, content_type, filename } = await one<Source>(sql`
      select ${sourceColumns} from sources s
      where s.wiki_id = ${params.wiki_id} and s.source_id = ${params.source_id}`);
    const name = filename.slice(filename.lastIndexOf('/') + 1);
    return { sha256, byte_size, content_type, filename: name, inline: content_type === 'application/pdf' };
  },
});
