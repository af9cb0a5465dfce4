import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Record, WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { knownTargets } from './links/wiki-targets.ts';
import { checkMarkdown, type RenderingCaller } from './page-input.ts';
import { exampleFullPage, OutlineEntry } from './schema.ts';

const { markdown, html, outline, path } = exampleFullPage;

/** Renders a text with the same code as a page, and stores nothing. */
export const previewPage = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/preview',
  summary: 'Preview a page',
  description: 'Renders a text as HTML without saving it. Relative links resolve from `page_path`.',
  access: onWiki('pages:write'),
  whenUnpaid: true,
  canWait: true,
  idempotent: false,
  params: WikiParams,
  bodyLimit: 'markdown',
  body: Type.Object({ markdown: Type.String(), page_path: Type.Optional(Type.String({ maxLength: 4_096 })) }),
  reply: Record(
    { html: Type.String({ description: 'Safe to display.' }), outline: Type.Array(OutlineEntry) },
    { title: 'PagePreview' },
  ),
  example: { body: { markdown, page_path: path }, reply: { html, outline } },
  run: async ({ params: { wiki_id }, body, maybeOne, refuse, services, abandoned }) => {
    const { markdown, page_path = 'page' } = body;
    const tooLong = checkMarkdown(markdown, services.limits.markdown_bytes);
    if (tooLong) return refuse(tooLong);
    // A separate statement before the text is parsed: a text without wiki links needs no other one.
    const caller = await maybeOne<RenderingCaller>(sql`select workspace_id, user_id from access`);
    if (!caller) throw notFound();
    const itself = sql`(
      select p.page_id from pages p where p.wiki_id = ${wiki_id} and p.path = ${page_path} and p.trashed_at is null)`;
    const pagesByTarget = await knownTargets(maybeOne, wiki_id, markdown, itself);
    const { html, outline } = await services.renderPage(
      { wiki_id, markdown, page_path, pagesByTarget },
      { kind: 'preview', ...caller },
      abandoned(),
    );
    return { html, outline };
  },
});
