import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { pageSlugCandidates, slugTaken } from '../../platform/core/chosen-slug.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { readTitle } from '../../platform/core/titles.ts';
import { sql } from '../../platform/db/sql.ts';
import { type Context, endpoint } from '../../platform/http/endpoint.ts';
import { knownTargets } from './links/wiki-targets.ts';
import { asPathError, checkMarkdown, noSuchParent, type RenderingCaller } from './page-input.ts';
import { childrenOf, closedParent, freeSlug, resolvePendingLinks } from './place-page.ts';
import { exampleFullPage, FullPage, type FullPageRow, fullPageById, pageColumns, pageTag } from './schema.ts';
import { shownPage } from './shown-page.ts';
import { resolvedLinks, textCtes } from './write-text.ts';

interface Place {
  parent_path: string | null;
  /** Whether the restriction of the parent does not let the caller add pages. */
  is_closed: boolean;
  slug: string | null;
  position: number;
}

export const exampleNewPage: FullPage = {
  ...exampleFullPage,
  path: 'setup',
  parent_page_id: '',
  origin: 'authored',
  source_count: 0,
  citations: [],
};

export const createPage = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/pages',
  summary: 'Create a page',
  description: 'The Markdown is stored exactly as sent. Without a slug, the page gets a free slug made from its title.',
  access: onWiki('pages:write'),
  event: 'page.created',
  params: WikiParams,
  bodyLimit: 'markdown',
  body: Type.Object({
    title: InputText({ minLength: 1 }),
    markdown: Type.String(),
    parent_page_id: Type.Optional(InputText({ description: '"" or absent: the root.' })),
    slug: Type.Optional(Type.Union([InputText(), Type.Null()])),
    status: Type.Optional(Type.Enum(['draft', 'published', 'archived'])),
  }),
  status: 201,
  reply: FullPage,
  etag: pageTag,
  errors: ['quota_exceeded', 'invalid_title', 'invalid_slug', 'invalid_request', 'slug_taken'],
  example: {
    body: { title: 'Setup', markdown: exampleFullPage.markdown, slug: 'setup' },
    reply: exampleNewPage,
  },
  run: (context) => addPage(context, context.body),
});

type NewPageContext = Pick<
  Context<{ wiki_id: string }, unknown, unknown>,
  'params' | 'maybeOne' | 'refuse' | 'transaction' | 'services' | 'abandoned'
>;

/** The input for a new page. */
interface NewPage {
  title: string;
  markdown: string;
  /** "" or absent: the root. */
  parent_page_id?: string;
  /** Absent or null: a free slug derived from the title. */
  slug?: string | null;
  status?: 'draft' | 'published' | 'archived';
}

/**
 * Writes a new page with its first revision, and returns it. Throws 400 `invalid_title`, `invalid_slug` or, if the
 * parent is missing, `invalid_request`; 409 `slug_taken`; 413; and the errors of exceeded quotas.
 */
export async function addPage(context: NewPageContext, page: NewPage): Promise<FullPage> {
  const {
    params: { wiki_id },
    maybeOne,
    refuse,
    transaction,
    services,
    abandoned,
  } = context;
  const title = readTitle(page.title);
  if (title instanceof ApiError) return refuse(title);
  const slugs = pageSlugCandidates(page.slug, title);
  if (slugs instanceof ApiError) return refuse(slugs);
  const tooLong = checkMarkdown(page.markdown, services.limits.markdown_bytes);
  if (tooLong) return refuse(tooLong);
  const { markdown, parent_page_id = '', status = 'published' } = page;
  const page_id = newId('page');

  const parentPath = sql`
    select p.path from pages p where p.wiki_id = ${wiki_id} and p.page_id = ${parent_page_id} and p.trashed_at is null`;
  const seen = await maybeOne<Pick<Place, 'parent_path'> & RenderingCaller>(sql`
    select (${parentPath}) as parent_path, workspace_id, user_id from access`);
  if (!seen) throw notFound();
  // Relative addresses start from the folder of the page at this moment. If its parent moves before the page is
  // written, readers are shown adjusted links.
  const folder = seen.parent_path ?? '';
  const pagesByTarget = await knownTargets(maybeOne, wiki_id, markdown);
  const page_path = folder === '' ? 'page' : `${folder}/page`;
  const rendered = await services.renderPage(
    { wiki_id, markdown, page_path, pagesByTarget },
    { kind: 'save', workspace_id: seen.workspace_id, user_id: seen.user_id },
    abandoned(),
  );

  return transaction(async (tx) => {
    // While the wiki is locked, no page is created, deleted or moved, so this result stays valid.
    // The "order by" names all columns of pages_by_parent, so that "is null" also finds the last position at the end of
    // the index.
    const place = await tx.maybeOne<Place>(sql`
      select (${parentPath}) as parent_path, is_closed_page(${wiki_id}, ${parent_page_id}) as is_closed, (${freeSlug(wiki_id, slugs, sql`(${parentPath})`)}) as slug,
        coalesce((
          select s.position + 1 from pages s where ${childrenOf(wiki_id, parent_page_id)}
          order by s.parent_page_id desc, s.position desc limit 1), 0)::int as position`);
    if (parent_page_id !== '' && (place?.parent_path ?? null) === null) throw noSuchParent();
    if (place?.is_closed) throw closedParent();
    const slug = place?.slug;
    if (!place || !slug || (page.slug && slug !== page.slug)) throw slugTaken(page.slug ?? '', slug);
    const path = place.parent_path === null ? slug : `${place.parent_path}/${slug}`;
    const { description, word_count, tags, properties } = rendered;
    await tx
      .one({
        resolved: resolvedLinks(wiki_id, rendered.links),
        edited: sql`
          insert into pages as p (wiki_id, page_id, path, slug, title, description, parent_page_id, parent_path, position,
            status, origin, revision, word_count, tags, properties, created_by, updated_by)
          select a.wiki_id, ${page_id}, ${path}, ${slug}, ${title}, ${description}, nullif(${parent_page_id}, ''),
            ${place.parent_path}::text, ${place.position}, ${status}, 'authored', 1, ${word_count},
            ${tags}::text[], ${JSON.stringify(properties)}::jsonb, a.user_id, a.user_id
          from access a
          returning p.*`,
        ...textCtes(wiki_id, { title, markdown, folder, rendered }),
        result: sql`select ${pageColumns} from edited p`,
      })
      .catch((error: unknown) => {
        throw asPathError(error);
      });
    await resolvePendingLinks(tx, { wiki_id, page_id, isNew: true });
    const made = await tx.maybeOne<FullPageRow>(fullPageById({ wiki_id, page_id }));
    if (!made) throw new Error('a created page cannot be read');
    return shownPage(made);
  });
}
