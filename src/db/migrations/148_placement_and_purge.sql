-- works with: 102_tree_version.sql
-- Where a router of shards has to send a transaction is asked before its first statement. Both answer an id alone, and to the service
-- alone: what the caller may see is decided by the transaction itself.
create function workspace_of_wiki(wiki text) returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$ select coalesce(k.workspace_id, k.deleted_from) from wikis k where k.wiki_id = wiki $$;
comment on function workspace_of_wiki(text) is 'The workspace that a wiki is of, also of a deleted one; no row where there is none.';
revoke all on function workspace_of_wiki(text) from public;
grant execute on function workspace_of_wiki(text) to ibid_service;

create function workspace_of_invitation(secret bytea) returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$ select i.workspace_id from invitations i where i.secret_hash = secret $$;
comment on function workspace_of_invitation(bytea) is 'The workspace that the invitation with this secret is of.';
revoke all on function workspace_of_invitation(bytea) from public;
grant execute on function workspace_of_invitation(bytea) to ibid_service;

-- Revisions are purged by when they were replaced, from where the last run ended, and not by walking all pages each day.
alter table wikis add column revisions_purged_to timestamptz, add column revisions_walked_at timestamptz;
comment on column wikis.revisions_purged_to is 'What was replaced before this time, longer ago than the workspace keeps revisions, was purged.';
comment on column wikis.revisions_walked_at is 'When the revisions of all pages were last looked at. A draft may have kept one that a run passed over.';

create function begin_revision_purge(wiki text) returns table (horizon timestamptz, walks boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since),
    k.revisions_purged_to is null or coalesce(k.revisions_walked_at < now() - interval '30 days', true)
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki
$$;
comment on function begin_revision_purge(text) is 'What is purged at most: what was replaced before horizon; null: nothing. walks: all pages have to be looked at.';

create function purge_replaced_revisions(
  wiki text, inout after_time timestamptz, inout after_page text, inout after_revision int, batch int, out removed int, out looked_at int)
  returns record language plpgsql security definer set search_path = public, pg_temp as $$
declare
  horizon timestamptz;
  changed_to revisions;
begin
  -- Locked as purge_revisions does.
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since), coalesce(after_time, k.revisions_purged_to)
    into horizon, after_time
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki for share of w;
  removed := 0;
  looked_at := 0;
  if horizon is null then
    after_time := null;
    return;
  end if;
  with changed as (
    select s.page_id, s.revision, s.created_at from revisions s
    where s.wiki_id = wiki and s.revision > 1 and s.created_at >= after_time and s.created_at < horizon
      and (s.created_at, s.page_id, s.revision) > (after_time, coalesce(after_page, ''), coalesce(after_revision, 0))
    order by s.created_at, s.page_id, s.revision limit batch
  ), last_changed as (
    select c.created_at, c.page_id, c.revision from changed c order by c.created_at desc, c.page_id desc, c.revision desc limit 1
  ), old as (
    select p.page_id, r.revision
    from (select distinct c.page_id from changed c) g
    join pages p on p.wiki_id = wiki and p.page_id = g.page_id
    cross join lateral (
      select s.revision, lead(s.created_at) over (order by s.revision) as replaced_at,
        max(s.revision) filter (where s.origin = 'compiled') over () as last_compiled
      from revisions s where s.wiki_id = wiki and s.page_id = g.page_id
    ) r
    where p.revision > 1 and r.revision < p.revision and r.replaced_at < horizon and r.revision is distinct from r.last_compiled
      and not exists (
        select from autosaves a where a.wiki_id = wiki and a.page_id = p.page_id and a.base_revision = r.revision)
    order by p.page_id, r.revision limit batch
  ), gone as (
    delete from revisions r using old o where r.wiki_id = wiki and r.page_id = o.page_id and r.revision = o.revision
    returning 1
  )
  select (select count(*) from gone), (select count(*) from changed), l.created_at, l.page_id, l.revision
    into removed, looked_at, changed_to.created_at, changed_to.page_id, changed_to.revision
  from (values (1)) always left join last_changed l on true;
  -- Where a page has more that is old, the next batch begins at the same place.
  if removed < batch then
    after_time := case when looked_at = batch then changed_to.created_at end;
    after_page := changed_to.page_id;
    after_revision := changed_to.revision;
  end if;
end $$;
comment on function purge_replaced_revisions is 'Purges as purge_revisions does, of the pages of the next batch revisions that replaced others before the horizon, in the order of their times; without a position from revisions_purged_to on. Answers where to go on; after_time null: that was all, or nothing may be purged.';

create function end_revision_purge(wiki text, purged_to timestamptz, walked boolean) returns void
language sql volatile security definer set search_path = public, pg_temp as $$
  -- A hold or another time that was set meanwhile has ended the run before it was done.
  update wikis k set revisions_purged_to = purged_to, revisions_walked_at = case when walked then now() else k.revisions_walked_at end
  from workspaces w
  where k.wiki_id = wiki and w.workspace_id = k.workspace_id
    and purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) is not null
$$;
comment on function end_revision_purge is 'Notes that a run went to its end.';
