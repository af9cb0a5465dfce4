-- A revision that was replaced is read when the history is, and takes 7 KB for 4 KB of Markdown: the text is in it twice, each
-- compressed by itself. Packed it is 2.5 KB. A release before this one would show it as empty, and cannot be started any more.
alter table revisions add column packed bytea, add column unpacked_bytes int;
alter table revisions alter column packed set storage external;
-- Room beside a row for the packed one, so that its indexes stay as they are.
alter table revisions set (fillfactor = 95);
comment on table revisions is 'Every state of every page. The safe HTML is made once, when the revision is written. Of one that was replaced markdown, html and outline are packed after a while, and then empty.';
comment on column revisions.packed is 'A JSON array of markdown, html and outline, compressed by Brotli; null while they are in their columns.';
comment on column revisions.unpacked_bytes is 'Of a packed one: the bytes of markdown and html, which are counted as before.';
alter table wikis add column revisions_packed_to timestamptz;
comment on column wikis.revisions_packed_to is 'What revisions from before this time have replaced is packed. Null: all are to be looked at.';

create function wikis_with_revisions_to_pack(age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.workspace_id is not null
    -- Processes of the release before may run while they are being replaced.
    and exists (select from migrations m where m.name = '175_packed_revisions.sql' and m.applied_at < now() - interval '1 day')
    and exists (
      select from revisions r where r.wiki_id = k.wiki_id and r.revision > 1
        and r.created_at >= coalesce(k.revisions_packed_to, '-infinity') and r.created_at < now() - age)
$$;
comment on function wikis_with_revisions_to_pack(interval) is 'For the scheduler: wikis with revisions that were replaced longer ago than age, and not packed yet.';
revoke all on function wikis_with_revisions_to_pack(interval) from public;
grant execute on function wikis_with_revisions_to_pack(interval) to ibid_service;

create or replace function count_revisions() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(octet_length(r.markdown) + octet_length(r.html))::bigint)
    from new_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, -sum(coalesce(r.unpacked_bytes, octet_length(r.markdown) + octet_length(r.html)))::bigint)
    from old_rows r group by r.wiki_id;
  end if;
  return null;
end $$;

create or replace function actual_usage(workspace text)
returns table (bytes bigint, pages bigint, files bigint, wikis bigint, invitations bigint, keys bigint, jobs bigint)
language sql stable security definer set search_path = public, pg_temp
as $$  with mine as (
    select k.wiki_id from wikis k where k.workspace_id = workspace or (k.workspace_id is null and k.deleted_from = workspace)
  ), uploaded as (
    select coalesce(sum(upload_file_bytes(f.status, f.kind, f.sha256, f.byte_size)), 0)::bigint as bytes,
      count(*) filter (where f.kind = 'file' and f.status = 'pending') as files
    from upload_files f where f.wiki_id in (select wiki_id from mine)
  )
  select u.bytes
      + coalesce((select sum(coalesce(r.unpacked_bytes, octet_length(r.markdown) + octet_length(r.html))) from revisions r where r.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(s.byte_size) from sources s where s.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(a.byte_size) from attachments a where a.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(d.byte_size) from autosaves d where d.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(e.byte_size) from exports e where e.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(i.byte_size) from imports i where i.wiki_id in (select wiki_id from mine)), 0)::bigint,
    (select count(*) from pages p where p.wiki_id in (select wiki_id from mine)),
    u.files,
    (select count(*) from wikis k where k.workspace_id = workspace),
    (select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending'),
    (select count(*) from api_keys k where k.workspace_id = workspace and k.revoked_at is null),
    (select count(*) from jobs j where j.wiki_id in (select wiki_id from mine) and is_open_job(j.status, j.kind))
  from uploaded u
$$;

-- contract: its rows have another column.
drop function caller_revisions(text, text, int, text[]);
create function caller_revisions(after_wiki text, after_page text, after_revision integer, writers text[])
returns table (wiki_id text, page_id text, revision integer, path text, title text, origin text, created_at timestamp with time zone, markdown text, packed bytea)
language sql stable security definer set enable_bitmapscan = off set search_path = public, pg_temp
as $$
  with found as materialized (
    select r.wiki_id, r.page_id, r.revision, r.title, r.origin, r.created_at, coalesce(r.unpacked_bytes, octet_length(r.markdown)) as bytes
    from revisions r
    where r.created_by = (select own_user()) and (r.wiki_id, r.page_id, r.revision) > (after_wiki, after_page, after_revision)
      and array_position((select caller_wikis()), r.wiki_id) is not null
    order by r.wiki_id, r.page_id, r.revision limit 200
  ), fitting as (
    -- The first one is always there, however long it is.
    select f.*, sum(f.bytes) over (order by f.wiki_id, f.page_id, f.revision) - f.bytes as before from found f
  )
  select f.wiki_id, f.page_id, f.revision, t.path, f.title, f.origin, f.created_at, t.markdown, t.packed
  from fitting f cross join lateral (
    select p.path,
      case when m.may_read then r.markdown end as markdown, case when m.may_read then r.packed end as packed
    from pages p, revisions r, lateral (
      -- As everywhere: what is in the trash is not read, and drafts only by those who may write.
      select p.trashed_at is null and (p.status <> 'draft' or exists (
        select from wikis k join memberships m on m.workspace_id = k.workspace_id
        where k.wiki_id = f.wiki_id and m.user_id = own_user() and m.status = 'active' and m.role = any (writers))) as may_read
      offset 0) m
    where p.wiki_id = f.wiki_id and p.page_id = f.page_id
      and r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.revision = f.revision
    offset 0
  ) t
  where f.before < 1048576
  order by f.wiki_id, f.page_id, f.revision
$$;
comment on function caller_revisions(text, text, int, text[]) is 'Revisions that the caller wrote, with their texts, which may be packed, where they may read the page now: at most 200, and no more after 1 MiB of text. writers: the roles that see drafts.';
