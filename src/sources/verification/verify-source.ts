import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { SEES_DRAFTS } from '../../wiki/pages/links/sees-drafts.ts';
import { exampleSource, SourceParams } from '../records/schema.ts';
import { checkSource, type VerificationBounds } from './check-source.ts';
import { FINDING_KINDS } from './findings.ts';
import type { CitingPage, StoredSource } from './records.ts';
import { citingPages, storedSourceColumns } from './stored-sources.ts';

/** Bounds of one request; `ibid verify` runs without bounds. */
const BOUNDS: VerificationBounds = { bytes: 8 * 2 ** 20, parts: 50, pages: 50 };

const Finding = Record(
  {
    kind: Type.Enum([...FINDING_KINDS], { description: 'More kinds may be added.' }),
    page_id: Type.String({ description: '"" if the finding is about the source.' }),
    message: Type.String({ description: 'Human-readable description.' }),
  },
  { title: 'VerificationFinding' },
);

const Verification = Record(
  {
    source_id: Id,
    file: Type.Enum(['intact', 'altered', 'missing'], {
      description: 'Whether the stored bytes match the hash of the upload.',
    }),
    text: Type.Enum(['unchanged', 'altered', 'read_otherwise', 'not_read'], {
      description:
        'Whether the stored text matches the file when it is read again. read_otherwise: another version of the extractor reads a different text. not_read: the file is too large for a request, or reading it hit a limit.',
    }),
    limited: Type.Boolean({
      description:
        'Whether reading the file hit a limit of time or memory: at upload (its pictures are among the losses, and it was read again under that limit), or now (text is not_read).',
    }),
    extractor_version: Type.Integer({ description: 'Version of the extractor that read the text; 0 if unknown.' }),
    current_extractor_version: Type.Integer({
      description: 'Version of the extractor that read the file now; 0 if it was not read.',
    }),
    citations: Type.Integer({ description: 'Number of page blocks made from the source.' }),
    verified: Type.Integer({
      description:
        'Number of blocks that pages show unchanged and whose quote still has the hash from when it was compiled.',
    }),
    in_other_context: Type.Integer({
      description:
        'Number of verified blocks that are in another context: below other headings, in another place of a list, or with other links.',
    }),
    edited: Type.Integer({ description: 'Number of blocks that people have edited or removed since.' }),
    rendered_pages: Type.Integer({
      description: 'Number of pages whose Markdown was rendered again and compared with the stored HTML, at most 50.',
    }),
    stale_pages: Type.Array(Id, { description: 'Pages with a block that could not be verified.' }),
    findings: Type.Array(Finding, {
      description: 'Differences from the compiled state; edits by people are not findings.',
    }),
  },
  { title: 'Verification' },
);

export const verifySource = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id/verification',
  summary: 'Verify a source',
  description:
    'Reads the file again and compares the text, the places and hashes of its blocks, and the content of its pages. Counts towards the rate limit of previews.',
  access: onWiki('sources:read'),
  canWait: true,
  params: SourceParams,
  reply: Verification,
  errors: ['rate_limited'],
  example: {
    reply: {
      source_id: exampleSource.source_id,
      file: 'intact',
      text: 'unchanged',
      limited: false,
      extractor_version: 1,
      current_extractor_version: 1,
      citations: 2,
      verified: 2,
      in_other_context: 0,
      edited: 0,
      rendered_pages: 1,
      stale_pages: [],
      findings: [],
    },
  },
  run: async ({ params, services, maybeOne, many }) => {
    const { wiki_id, source_id } = params;
    const isSeen = sql`(${SEES_DRAFTS} or p.trashed_at is null)`;
    const source = await maybeOne<StoredSource & { workspace_id: string; user_id: string }>(sql`
      select ${storedSourceColumns(isSeen)}, a.workspace_id, a.user_id
      from access a, sources s left join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      where s.wiki_id = ${wiki_id} and s.source_id = ${source_id}`);
    if (!source) throw notFound();
    const { workspace_id, user_id, extractor_version } = source;
    const pages = citingPages((statement) => many<CitingPage>(statement), params, isSeen);
    const { blobs, readerOf, withinShares } = services;
    const checked = await withinShares(
      { kind: 'preview', workspace_id, user_id },
      Number(source.byte_size),
      (sandbox) => checkSource({ blobs, reader: readerOf(workspace_id), sandbox }, source, pages, BOUNDS),
    );
    return { source_id, extractor_version, ...checked };
  },
});
