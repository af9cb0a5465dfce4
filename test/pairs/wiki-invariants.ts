import { sql } from '../../src/platform/db/sql.ts';
import type { World } from '../world.ts';

/** Checks the invariants of every wiki in the database. Returns the violations and their location. */
export function findWrong({ db }: Pick<World, 'db'>): Promise<{ what: string; where: string }[]> {
  return db.query(sql`
    select 'a path twice' as what, path as where from pages where trashed_at is null group by wiki_id, path having count(*) > 1
    union all
    select 'a path that is not its place', p.path from pages p join pages n on n.wiki_id = p.wiki_id and n.page_id = p.parent_page_id
      where p.path <> n.path || '/' || p.slug
    union all
    select 'a live page below one in the trash', p.path from pages p
      join pages n on n.wiki_id = p.wiki_id and n.page_id = p.parent_page_id
      where p.trashed_at is null and n.trashed_at is not null
    union all
    select 'a present revision that is not there', p.path from pages p
      left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision where r.page_id is null
    union all
    select 'a text that is not there', p.path from pages p
      left join page_texts x on x.wiki_id = p.wiki_id and x.page_id = p.page_id where x.page_id is null
    union all
    select 'a link that misses the page at its path', l.to_path from page_links l
      join pages t on t.wiki_id = l.wiki_id and t.path = l.to_path and t.trashed_at is null
      left join pages m on m.wiki_id = l.wiki_id and m.page_id = l.to_page_id and m.trashed_at is null
      where m.page_id is null
    union all
    select 'a wrong number of sources', p.path from pages p
      where p.source_count <> (select count(*) from page_sources o where o.wiki_id = p.wiki_id and o.page_id = p.page_id)
    union all
    select 'a present text that no search knows', p.path from pages p join wikis w on w.wiki_id = p.wiki_id and w.workspace_id is not null
      where not exists (select from search_pending s where s.wiki_id = p.wiki_id and s.document_id = p.page_id and s.version = p.revision)
        and exists (select from search_pending s where s.wiki_id = p.wiki_id and s.document_id = p.page_id)
    union all
    select 'a page that does not belong to the nearest restriction', p.path from pages p
      left join page_acls k on k.wiki_id = p.wiki_id and k.page_id = p.page_id
      left join pages n on n.wiki_id = p.wiki_id and n.page_id = p.parent_page_id
      where p.acl_no <> coalesce(k.acl_no, n.acl_no, 0) or k.outer_no <> coalesce(n.acl_no, 0)
    union all
    select 'a grant of a person who is no member', g.user_id from page_grants g
      join wikis k on k.wiki_id = g.wiki_id and k.workspace_id is not null
      where not exists (select from memberships m where m.workspace_id = k.workspace_id and m.user_id = g.user_id)
    union all
    select 'bits that are not the grants', coalesce(g.user_id, b.user_id) from (
        select g.wiki_id, g.user_id, g.acl_no, g.level in ('write', 'manage') as writes from page_grants g) g
      full join (
        select b.wiki_id, b.subject_id as user_id, n.no as acl_no, has_bit(b.writes, n.no) as writes
        from subject_bits b, generate_series(1, length(b.reads)) n (no) where has_bit(b.reads, n.no)) b
      using (wiki_id, user_id, acl_no, writes)
      where g is null or b is null
    union all
    select 'a wrong number of members', w.workspace_id from workspaces w
      where w.active_members <> (select count(*) from memberships m where m.workspace_id = w.workspace_id and m.status = 'active')
    union all
    select 'more seats taken than granted', w.workspace_id from workspaces w
      where not w.seats_unlimited and w.seats_granted > 0 and w.seats_granted < w.active_members + (
        select count(*) from invitations i where i.workspace_id = w.workspace_id and i.state = 'pending' and i.expires_at > now())
    union all
    select 'a workspace without an owner', w.workspace_id from workspaces w
      where not exists (select from memberships m where m.workspace_id = w.workspace_id and m.role = 'owner' and m.status in ('active', 'suspended'))
    union all
    select 'an upload that waits for no job', u.upload_id from uploads u
      join wikis w on w.wiki_id = u.wiki_id and w.workspace_id is not null
      where u.status = 'queued' and not exists (
        select from jobs j where j.wiki_id = u.wiki_id and j.upload_id = u.upload_id and j.finished_at is null)
    union all
    select 'a job of an upload that has ended', j.job_id from jobs j join uploads u using (wiki_id, upload_id)
      where j.finished_at is null and u.finished_at is not null
    union all
    select 'a file that waits in an upload that has ended', f.filename from upload_files f join uploads u using (wiki_id, upload_id)
      where u.finished_at is not null and f.kind = 'file' and f.status = 'pending'
    union all
    select 'usage that was counted wrong: ' || d.key, w.workspace_id || ': ' || (d.value #>> '{}') from workspaces w
      cross join lateral (
        select jsonb_build_object('bytes', a.bytes - c.bytes, 'pages', a.pages - c.pages, 'files', a.files - c.files,
          'wikis', a.wikis - c.wikis, 'invitations', a.invitations - c.invitations, 'keys', a.keys - c.keys, 'jobs', a.jobs - c.jobs) as missing
        from actual_usage(w.workspace_id) a, (
          select coalesce(sum(bytes), 0) as bytes, coalesce(sum(pages), 0) as pages, coalesce(sum(files), 0) as files,
            coalesce(sum(wikis), 0) as wikis, coalesce(sum(invitations), 0) as invitations, coalesce(sum(keys), 0) as keys,
            coalesce(sum(jobs), 0) as jobs
          from workspace_usage u where u.workspace_id = w.workspace_id) c) m
      cross join lateral jsonb_each(m.missing) d where d.value <> '0'`);
}
