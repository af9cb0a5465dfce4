-- works with: 175_packed_revisions.sql
-- No row is changed: a wiki that was deleted before has no time, and its content goes as it did.
alter table wikis add column deleted_at timestamptz;
comment on column wikis.deleted_at is 'When the wiki was put into the trash of deleted_from. null: it is not there, or its content goes now.';

-- Five minutes more than a restore has: no statement of one is as long.
create or replace function deleted_wikis() returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k left join workspaces w on w.workspace_id = k.deleted_from
  where k.workspace_id is null and w.held_since is null
    and (k.deleted_at is null or w.workspace_id is null or k.deleted_at < now() - interval '30 days 5 minutes')
$$;
comment on function deleted_wikis is 'For the scheduler: wikis whose content goes now: they were in the trash for 30 days, or were deleted for good. Without those of workspaces under a legal hold.';

create function wikis_in_trash(workspace text)
  returns table (
    wiki_id text, slug text, title text, description text, created_by text, deleted_at timestamptz, purged_after timestamptz)
  language sql stable security definer as $$
  select k.wiki_id, k.slug, k.title, k.description, k.created_by, k.deleted_at, k.deleted_at + interval '30 days'
  from wikis k join workspaces w on w.workspace_id = k.deleted_from
  where k.workspace_id is null and k.deleted_from = workspace and workspace = any (own_workspaces())
    and (k.deleted_at > now() - interval '30 days' or (k.deleted_at is not null and w.held_since is not null))
$$;
comment on function wikis_in_trash is 'The deleted wikis of a workspace that the caller sees, which can be restored. The caller of the function decides which members may see them.';

create function restore_wiki(wiki text, candidates text[]) returns text language plpgsql security definer as $$
declare
  home text;
  free text;
begin
  select k.deleted_from into home from wikis k
  where k.wiki_id = wiki and k.workspace_id is null and k.deleted_at is not null and k.deleted_from = any (own_workspaces())
  for update;
  if not found then return null; end if;
  select c.slug into free from unnest(candidates) with ordinality c (slug, place)
  where not exists (select from wikis k where k.workspace_id = home and k.slug = c.slug) order by c.place limit 1;
  update wikis k set workspace_id = home, slug = free, deleted_from = null, deleted_at = null where k.wiki_id = wiki;
  update jobs j set run_after = now() where j.wiki_id = wiki and j.status = 'queued' and j.run_after = never();
  return free;
exception when unique_violation or not_null_violation then
  -- Another wiki took the slug at the same time.
  return '';
end $$;
comment on function restore_wiki is 'Takes a wiki out of the trash, at the first of the slugs that is free in its workspace, which it returns; '''' if none is free, null if the wiki is not in the trash. Its jobs go on. The caller of the function checks that it is one of wikis_in_trash.';

create function purge_wiki(wiki text) returns boolean language plpgsql security definer as $$
declare
  held timestamptz;
begin
  update wikis k set deleted_at = null from workspaces w
  where k.wiki_id = wiki and w.workspace_id = k.deleted_from and w.workspace_id = any (own_workspaces())
    and k.workspace_id is null and k.deleted_at is not null
  returning w.held_since into held;
  if not found then return false; end if;
  if held is not null then
    raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
  end if;
  return true;
end $$;
comment on function purge_wiki is 'Lets the content of a wiki in the trash go now; false if it is not there. Fails (IBHLD) under a legal hold. The caller of the function checks that it is one of wikis_in_trash.';

do $$
declare f text;
begin
  foreach f in array array['deleted_wikis()', 'wikis_in_trash(text)', 'restore_wiki(text, text[])', 'purge_wiki(text)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
