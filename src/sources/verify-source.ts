import { Type } from 'typebox';
import { hasPermission, onWiki } from '../access/access-rule.ts';
import { Id, Record } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { isVisible } from '../pages/schema.ts';
import { type CitationRow, citationColumns } from './cited-blocks.ts';
import { exampleSource, SourceParams } from './schema.ts';
import { verifyFile, verifyPages } from './verification.ts';

const Verification = Record({
  source_id: Id,
  file: Type.Enum(['intact', 'altered', 'missing'], {
    description: 'Whether the stored bytes have the hash of the upload.',
  }),
  citations: Type.Integer({ description: 'How many blocks of pages were made from it.' }),
  verified: Type.Integer({ description: 'Those whose quote still has the hash that it was compiled with.' }),
  stale_pages: Type.Array(Id, { description: 'Pages with a block that could not be verified.' }),
});

export const verifySource = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id/verification',
  summary: 'Verify a source',
  description: 'Computes the hashes of its file and of everything that pages show of it again.',
  access: onWiki('sources:read'),
  params: SourceParams,
  reply: Verification,
  example: {
    reply: { source_id: exampleSource.source_id, file: 'intact', citations: 2, verified: 2, stale_pages: [] },
  },
  run: async ({ params, services, one }) => {
    const { sha256, text, pages } = await one<{ sha256: string; text: string; pages: CitationRow[] }>(sql`
      select s.sha256, t.text, coalesce((
        select json_agg(l) from (
          select ${citationColumns} from page_sources c
          where c.wiki_id = s.wiki_id and c.source_id = s.source_id and (${hasPermission('pages:write')} or exists (
            select from pages p where p.wiki_id = c.wiki_id and p.page_id = c.page_id and ${isVisible}))
        ) l), '[]') as pages
      from sources s join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      where s.wiki_id = ${params.wiki_id} and s.source_id = ${params.source_id}`);
    return { source_id: params.source_id, file: await verifyFile(services.blobs, sha256), ...verifyPages(pages, text) };
  },
});
