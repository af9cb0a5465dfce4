import { isPageSlug } from '@ibid/markdown/slugs/page-slug.ts';
import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { malformedPageSlug } from '../../platform/core/chosen-slug.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { checkMarkdown, readOptionalTitle, revisionOf } from './page-input.ts';
import { exampleFullPage, FullPage, PageParams, pageTag } from './schema.ts';
import { updatePage } from './update-page.ts';
import type { PageUpdate } from './update-statements.ts';

export const editPage = endpoint({
  method: 'PATCH',
  path: '/v1/wikis/:wiki_id/pages/:page_id',
  summary: 'Edit a page',
  description:
    'Changes the fields in the request. A new text or title creates a revision and must name the revision it is based on, with `base_revision` ' +
    'or with If-Match and the ETag of a read. If that revision is no longer current, the answer is 409 `edit_conflict` and ' +
    'nothing is written. A request that changes nothing creates no revision. Moving a page also moves the pages below it; ' +
    'old paths continue to lead to it.',
  access: onWiki('pages:write'),
  event: 'page.updated',
  params: PageParams,
  bodyLimit: 'markdown',
  body: Type.Object({
    title: Type.Optional(InputText({ minLength: 1 })),
    markdown: Type.Optional(Type.String()),
    parent_page_id: Type.Optional(InputText({ description: '"" for the root.' })),
    slug: Type.Optional(InputText()),
    position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
    status: Type.Optional(Type.Enum(['draft', 'published', 'archived'])),
    base_revision: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  }),
  reply: FullPage,
  etag: pageTag,
  errors: [
    'quota_exceeded',
    'invalid_title',
    'invalid_slug',
    'invalid_request',
    'slug_taken',
    'edit_conflict',
    'conflict',
  ],
  example: {
    body: { markdown: exampleFullPage.markdown, title: 'Set up', base_revision: 1 },
    reply: { ...exampleFullPage, title: 'Set up', revision: 2 },
  },
  run: async (context) => {
    const { body, if_match, refuse, services } = context;
    const update = checkKeyInput(body, if_match, services.limits.markdown_bytes);
    return update instanceof ApiError ? refuse(update) : updatePage(context, update);
  },
});

function checkKeyInput(
  body: {
    title?: string;
    markdown?: string;
    slug?: string;
    parent_page_id?: string;
    position?: number;
    status?: FullPage['status'];
    base_revision?: number;
  },
  ifMatch: string | undefined,
  markdownBytes: number,
): PageUpdate | ApiError {
  const { markdown, slug, parent_page_id, position, status } = body;
  const title = readOptionalTitle(body.title);
  if (title instanceof ApiError) return title;
  if (slug !== undefined && !isPageSlug(slug)) return malformedPageSlug();
  const tooLong = markdown === undefined ? undefined : checkMarkdown(markdown, markdownBytes);
  if (tooLong) return tooLong;
  const base_revision = body.base_revision ?? (ifMatch === undefined ? undefined : revisionOf(ifMatch));
  if (base_revision instanceof ApiError) return base_revision;
  if (base_revision === undefined && (title !== undefined || markdown !== undefined)) {
    return new ApiError(
      'invalid_request',
      'A new text or title needs the revision it is based on: send base_revision, or If-Match with the ETag of a read.',
    );
  }
  return { title, markdown, slug, parent_page_id, position, status, base_revision };
}
