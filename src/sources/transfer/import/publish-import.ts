import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import { endJob, lockJob, requireRights } from '../../../platform/jobs/record-queue.ts';
import { linkTargetOf } from '../../../wiki/pages/write-text.ts';
import { pendingCopies } from '../../../wiki/search/index/pending.ts';
import type { ArchivedPerson } from '../export/archive-format.ts';
import { recordEnd } from '../export/export.job.ts';
import { ArchiveError } from './archive-error.ts';

/** The result of preparing an import, besides the staged rows. */
export interface PreparedImport {
  summary: string;
  /** People in the archive whom this service does not know. */
  people: readonly ArchivedPerson[];
  /** Set for the archive of a whole wiki, which needs a wiki without pages; undefined for a folder. */
  wholeWiki: { home_page_id: string | null } | undefined;
}

/**
 * Publishes the staged rows of an import and ends its job, in the caller's transaction. No other code turns staged rows
 * into pages. Calls only the database. Throws ArchiveError if the wiki already has pages, and LeaseLost. Throws
 * database errors if a path was taken or a parent moved after the paths were planned; the next attempt plans them
 * again.
 */
export async function publishImport(query: Query, job: ClaimedJob, prepared: PreparedImport): Promise<void> {
  const { wiki_id, job_id } = job;
  const { summary, people, wholeWiki } = prepared;
  const [staged] = await query(sql`
    select set_config('statement_timeout', '0', true) from staged_imports
    where wiki_id = ${wiki_id} and import_id = ${job_id}`);
  if (!staged) throw new Error('the database crashed and lost the prepared import; the import starts over');
  await query(sql`
    insert into imported_people (wiki_id, user_id, name, email)
    select ${wiki_id}, user_id, name, email
    from jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as g (user_id text, name text, email text)`);
  // Check first, because a page with the same path would fail every attempt.
  if (wholeWiki) await refuseUnlessAlone(query, wiki_id, 0);
  const pages = await publishPages(query, job);
  await refuseClosed(query, job, pages);
  await publishRevisions(query, job);
  await publishAttachments(query, job);
  // Lock the job before the wiki, like all writes that lock both.
  await lockJob(query, job);
  await requireRights(query, job);
  await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
  if (wholeWiki) {
    await refuseUnlessAlone(query, wiki_id, pages);
    await query(sql`update wikis set home_page_id = ${wholeWiki.home_page_id} where wiki_id = ${wiki_id}`);
  }
  // Imported revisions have old dates, so packing starts again from the beginning.
  await query(sql`
    update wikis set revisions_packed_to = null where wiki_id = ${wiki_id} and revisions_packed_to is not null`);
  await resolveLinks(query, wiki_id);
  await endJob(query, job, { status: 'completed', summary, error: '' });
  await recordEnd(query, job, 'completed', {});
}

async function publishPages(query: Query, { wiki_id, job_id }: ClaimedJob): Promise<number> {
  const [made] = await query<{ count: number }>(sql`
    with made as (
      insert into pages (wiki_id, page_id, path, slug, parent_page_id, parent_path, title, description, position, status,
        origin, stale, gone_file, revision, word_count, created_at, created_by, updated_at, updated_by, tags, properties)
      select wiki_id, page_id, path, slug, parent_page_id, parent_path, title, description, position, status,
        origin, stale, gone_file, revision, word_count, created_at, created_by, updated_at, updated_by,
        array(select jsonb_array_elements_text(tags)), properties
      from import_pages where wiki_id = ${wiki_id} and import_id = ${job_id}
      returning 1
    ) select count(*)::int as count from made`);
  await query(sql`
    insert into page_paths (wiki_id, path, page_id)
    select s.wiki_id, former.path, s.page_id from import_pages s, jsonb_array_elements_text(s.former_paths) former (path)
    where s.wiki_id = ${wiki_id} and s.import_id = ${job_id}`);
  return made?.count ?? 0;
}

/** Refuses pages below pages that were restricted meanwhile, or that the person who imports may only read. */
async function refuseClosed(query: Query, { wiki_id, job_id }: ClaimedJob, pages: number): Promise<void> {
  const [row] = await query<{ open: number }>(sql`
    select count(*)::int as open from import_pages s join pages p on p.wiki_id = s.wiki_id and p.page_id = s.page_id
    where s.wiki_id = ${wiki_id} and s.import_id = ${job_id} and (not restricts() or p.acl_no = 0 or has_bit(own_writes(), p.acl_no))`);
  if (row?.open === pages) return;
  throw new ArchiveError(
    'forbidden',
    'The archive has pages below a restricted page. Ask a manager of it for the right to write there, or rename the folder.',
  );
}

/** Publishes the revisions, and for current ones also their search texts and links. */
async function publishRevisions(query: Query, { wiki_id, job_id }: ClaimedJob): Promise<void> {
  const staged = sql`import_revisions s where s.wiki_id = ${wiki_id} and s.import_id = ${job_id}`;
  const present = sql`${staged} and s.links is not null`;
  await query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, origin, folder, created_at, created_by, claim)
    select s.wiki_id, s.page_id, s.revision, s.title, s.markdown, s.html, s.outline, s.origin, s.folder, s.created_at,
      s.created_by, s.claim
    from ${staged}`);
  await query(sql`
    insert into page_texts (wiki_id, page_id, text) select s.wiki_id, s.page_id, s.text from ${present}`);
  await query(
    pendingCopies(
      'page',
      sql`
      select s.wiki_id, s.page_id as document_id, s.revision as version, s.title_terms, s.body_terms, s.vocabulary
      from ${present}`,
    ),
  );
  await query(sql`
    insert into page_links (wiki_id, from_page_id, to_path, to_page_id, places, wanted_title, wanted_path, line)
    select l.wiki_id, l.page_id, g.to_path, g.to_page_id, g.places, lower(g.wanted_title), g.wanted_path, coalesce(g.line, 0)
    from (select s.wiki_id, s.page_id, s.links from ${present}) l, jsonb_to_recordset(l.links)
      as g (to_path text, to_page_id text, places int[], wanted_title text, wanted_path text, line int)`);
}

async function publishAttachments(query: Query, { wiki_id, job_id }: ClaimedJob): Promise<void> {
  await query(sql`
    insert into attachments (wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_at, created_by)
    select wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_at, created_by
    from import_attachments where wiki_id = ${wiki_id} and import_id = ${job_id}`);
}

/** Resolves links, by path or as [[Title]], to pages that did not exist when the link was written. */
async function resolveLinks(query: Query, wiki_id: string): Promise<void> {
  await query(sql`
    update page_links l set to_page_id = m.page_id
    from (
      select l.from_page_id, l.to_path, ${linkTargetOf(wiki_id)} as page_id
      from (
        select from_page_id, to_path, wanted_title, coalesce(wanted_path, to_path) as path from page_links
        where wiki_id = ${wiki_id} and to_page_id is null offset 0) l offset 0) m
    where l.wiki_id = ${wiki_id} and l.from_page_id = m.from_page_id and l.to_path = m.to_path and m.page_id is not null`);
}

/** Refuses to publish if the wiki was edited during the import. */
async function refuseUnlessAlone(query: Query, wiki_id: string, pages: number): Promise<void> {
  const [row] = await query<{ pages: number }>(sql`
    select page_count(${wiki_id}) as pages`);
  if (row?.pages !== pages) throw notEmpty();
}

export function notEmpty(): ArchiveError {
  return new ArchiveError(
    'conflict',
    'The wiki already has pages, and the archive of a wiki can only be imported into an empty wiki. Create a new wiki for it.',
  );
}
