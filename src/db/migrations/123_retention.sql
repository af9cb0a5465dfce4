-- works with: 102_tree_version.sql
-- How long a workspace keeps what is not in use any more, and legal holds, under which nothing is deleted for good.

alter table workspaces add column trash_days int;
alter table workspaces add column revision_days int;
alter table workspaces add column audit_days int;
alter table workspaces add column retention_changed_at timestamptz;
alter table workspaces add column held_since timestamptz;
alter table workspaces add column held_by text collate "C";
alter table workspaces add column hold_reason text;
comment on column workspaces.trash_days is 'How long deleted pages can be restored; null: as long as the service keeps them.';
comment on column workspaces.revision_days is 'How long a revision is kept that another one has replaced; null: for ever.';
comment on column workspaces.audit_days is 'How long records of the audit log are kept; null: for ever.';
comment on column workspaces.retention_changed_at is 'When one of these was changed, or a hold was lifted: for a day after it nothing is purged.';
comment on column workspaces.held_since is 'Since when the workspace is under a legal hold; null: it is not. held_by and hold_reason say who set it and why.';
alter table workspaces add constraint workspaces_trash_days check (trash_days between 7 and 3650) not valid;
alter table workspaces add constraint workspaces_revision_days check (revision_days between 30 and 3650) not valid;
alter table workspaces add constraint workspaces_audit_days check (audit_days between 90 and 3650) not valid;
alter table workspaces add constraint workspaces_hold check (
  (held_since is null) = (held_by is null) and (held_since is null) = (hold_reason is null)) not valid;

create function purge_horizon(days int, changed_at timestamptz, held_since timestamptz) returns timestamptz language sql stable as $$
  select case when held_since is null and coalesce(changed_at < now() - interval '1 day', true) then now() - make_interval(days => days) end
$$;
comment on function purge_horizon is 'What ended before this time may be purged; null: nothing may. Of workspaces retention_changed_at and held_since, and one of the settings.';

-- Where the hold is decided: every way to delete content for good comes by here, also those of earlier releases.
create function refuse_under_hold(wikis text[]) returns void language plpgsql security definer as $$
declare
  workspace text;
  held timestamptz;
begin
  -- By keys, one after the other: a wiki's statement has one, and no plan reads all workspaces.
  foreach workspace in array array(
    select distinct coalesce(k.workspace_id, k.deleted_from) from wikis k where k.wiki_id = any (refuse_under_hold.wikis) order by 1)
  loop
    -- Locked, so that a hold that is being set waits for this deletion, and none that begins later misses it.
    select w.held_since into held from workspaces w where w.workspace_id = workspace for share of w;
    if held is not null then
      raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
    end if;
  end loop;
end $$;
comment on function refuse_under_hold is 'Fails (IBHLD) where one of these wikis is of a workspace under a legal hold.';

create function refuse_deletion_under_hold() returns trigger language plpgsql security definer as $$
begin
  perform refuse_under_hold(array(select distinct o.wiki_id from old_rows o));
  return null;
end $$;
comment on function refuse_deletion_under_hold is 'For triggers of tables with content of a wiki.';
create trigger legal_hold after delete on pages
  referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();
create trigger legal_hold after delete on sources
  referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();
create trigger legal_hold after delete on attachments
  referencing old table as old_rows for each statement execute function refuse_deletion_under_hold();

create function refuse_deletion_of_wiki_under_hold() returns trigger language plpgsql security definer as $$
begin
  perform refuse_under_hold(array[old.wiki_id]);
  return case when tg_op = 'DELETE' then old else new end;
end $$;
comment on function refuse_deletion_of_wiki_under_hold is 'For triggers of wikis, which are deleted in two steps: first they belong to no workspace.';
create trigger legal_hold before delete on wikis for each row execute function refuse_deletion_of_wiki_under_hold();
create trigger legal_hold_of_workspace before update of workspace_id on wikis for each row
  when (new.workspace_id is null and old.workspace_id is not null) execute function refuse_deletion_of_wiki_under_hold();

create function refuse_deletion_of_workspace_under_hold() returns trigger language plpgsql as $$
begin
  raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
end $$;
comment on function refuse_deletion_of_workspace_under_hold is 'For the trigger of workspaces.';
create trigger legal_hold before delete on workspaces for each row
  when (old.held_since is not null) execute function refuse_deletion_of_workspace_under_hold();

create or replace function deleted_wikis() returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.workspace_id is null and not exists (
    select from workspaces w where w.workspace_id = k.deleted_from and w.held_since is not null)
$$;
comment on function deleted_wikis is 'For the scheduler: wikis that were deleted and whose content is still there, without those of workspaces under a legal hold.';

-- Processes of the release before delete by this one, and know of no other time than its own.
create or replace function wikis_with_old_trash(age interval) returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k join workspaces w on w.workspace_id = k.workspace_id
  where k.wiki_id in (select p.wiki_id from pages p where p.trashed_at < now() - age)
    and w.trash_days is null and purge_horizon(1, w.retention_changed_at, w.held_since) is not null
$$;
comment on function wikis_with_old_trash is 'For the scheduler of the release before.';

create function wikis_with_trash_to_purge(service_days int) returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k join workspaces w on w.workspace_id = k.workspace_id
  join (select p.wiki_id, min(p.trashed_at) as oldest from pages p
    -- The shortest time that a workspace can set.
    where p.trashed_at < now() - interval '7 days' group by p.wiki_id) t on t.wiki_id = k.wiki_id
  where t.oldest < purge_horizon(coalesce(w.trash_days, service_days), w.retention_changed_at, w.held_since)
$$;
comment on function wikis_with_trash_to_purge is 'For the scheduler: wikis with pages that were in the trash for longer than their workspace says, or service_days where it says nothing.';

create function wikis_with_revision_retention() returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from workspaces w join wikis k on k.workspace_id = w.workspace_id
  where purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) is not null
$$;
comment on function wikis_with_revision_retention is 'For the scheduler: wikis whose workspace keeps revisions for a time.';

create function workspaces_with_audit_retention() returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select null::text, w.workspace_id from workspaces w
  where purge_horizon(w.audit_days, w.retention_changed_at, w.held_since) is not null
$$;
comment on function workspaces_with_audit_retention is 'For the scheduler: workspaces that keep their audit log for a time.';

create function purge_revisions(wiki text, from_page text, batch int, out removed int, out next_page text) language plpgsql security definer as $$
declare
  horizon timestamptz;
  last_removed text;
begin
  -- Locked, so that a hold or a longer time that is being set waits for this batch, and is seen by the next one.
  select purge_horizon(w.revision_days, w.retention_changed_at, w.held_since) into horizon
  from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = wiki for share of w;
  removed := 0;
  if horizon is null then
    return;
  end if;
  with walked as (
    select p.page_id, p.revision from pages p where p.wiki_id = wiki and p.page_id >= from_page order by p.page_id limit batch
  ), old as (
    select g.page_id, r.revision
    from walked g cross join lateral (
      select s.revision, lead(s.created_at) over (order by s.revision) as replaced_at,
        max(s.revision) filter (where s.origin = 'compiled') over () as last_compiled
      from revisions s where s.wiki_id = wiki and s.page_id = g.page_id
    ) r
    -- The last that an upload made is what the next upload is merged with; a draft is merged with what it was begun on.
    where g.revision > 1 and r.revision < g.revision and r.replaced_at < horizon and r.revision is distinct from r.last_compiled
      and not exists (
        select from autosaves a where a.wiki_id = wiki and a.page_id = g.page_id and a.base_revision = r.revision)
    order by g.page_id, r.revision limit batch
  ), gone as (
    delete from revisions r using old o where r.wiki_id = wiki and r.page_id = o.page_id and r.revision = o.revision
    returning r.page_id
  )
  select count(*), max(g.page_id) into removed, last_removed from gone g;
  if removed = batch then
    next_page := last_removed;
  else
    select p.page_id into next_page from pages p where p.wiki_id = wiki and p.page_id >= from_page order by p.page_id offset batch limit 1;
  end if;
end $$;
comment on function purge_revisions is 'Deletes at most batch revisions that were replaced longer ago than the workspace keeps them, of at most batch pages from from_page on. Never the current one, the last that an upload made, or one that a draft was begun on. next_page: where to go on; null: that was all, or nothing may be purged.';

create function purge_audit_events(workspace text, batch int) returns int language plpgsql security definer as $$
declare
  horizon timestamptz;
  removed int;
begin
  select purge_horizon(w.audit_days, w.retention_changed_at, w.held_since) into horizon
  from workspaces w where w.workspace_id = workspace for share of w;
  if horizon is null then
    return 0;
  end if;
  with gone as (
    delete from audit_events e where e.event_id in (
      select o.event_id from audit_events o
      where o.workspace_id = workspace and o.created_at < horizon
        and o.type not in ('workspace.retention_changed', 'workspace.legal_hold_set', 'workspace.legal_hold_lifted')
      order by o.created_at, o.event_id limit batch)
    returning 1
  )
  select count(*) into removed from gone;
  return removed;
end $$;
comment on function purge_audit_events is 'Deletes at most batch audit records that are older than the workspace keeps them, and returns how many. Those that say what is kept and what was held stay.';

do $$
declare f text;
begin
  foreach f in array array[
    'refuse_under_hold(text[])', 'refuse_deletion_under_hold()', 'refuse_deletion_of_wiki_under_hold()', 'deleted_wikis()',
    'wikis_with_old_trash(interval)', 'wikis_with_trash_to_purge(int)', 'wikis_with_revision_retention()',
    'workspaces_with_audit_retention()', 'purge_revisions(text, text, int)', 'purge_audit_events(text, int)']
  loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
