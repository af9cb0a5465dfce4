-- works with: 175_packed_revisions.sql
create table workspace_slugs (
  slug         text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces on delete cascade,
  replaced_at  timestamptz not null default now()
);
comment on table workspace_slugs is 'The last ten slugs that a workspace had. Links with them lead to the present one, and no other workspace can take them.';
create index workspace_slugs_by_workspace on workspace_slugs (workspace_id, replaced_at desc);
grant select on workspace_slugs to ibid_service;
alter table workspace_slugs enable row level security;
create policy of_the_workspaces on workspace_slugs using (workspace_id in (select unnest(own_workspaces())));

create or replace function slug_is_taken(wanted text) returns boolean language sql stable security definer as $$
  select exists (select from workspaces where slug = wanted) or exists (select from workspace_slugs where slug = wanted)
$$;

-- It sees rows of workspaces that the caller cannot see, and what was committed while the statement waited for the unique key.
create function keep_slug() returns trigger language plpgsql security definer as $$
begin
  delete from workspace_slugs s where s.slug = new.slug and s.workspace_id = new.workspace_id;
  if exists (select from workspace_slugs s where s.slug = new.slug) then
    raise exception 'the slug leads to another workspace' using errcode = 'unique_violation', constraint = 'workspaces_slug_key';
  end if;
  if tg_op = 'UPDATE' then
    insert into workspace_slugs (slug, workspace_id, replaced_at) values (old.slug, new.workspace_id, clock_timestamp());
    -- So that nobody reserves names without end.
    delete from workspace_slugs s where s.workspace_id = new.workspace_id and s.slug in (
      select o.slug from workspace_slugs o where o.workspace_id = new.workspace_id order by o.replaced_at desc offset 10);
  end if;
  return null;
end $$;
comment on function keep_slug is 'For triggers of workspaces: keeps the slug that is replaced, and refuses one that leads to another workspace.';
create trigger slug_taken after insert on workspaces for each row execute function keep_slug();
create trigger slug_changed after update of slug on workspaces for each row when (old.slug <> new.slug) execute function keep_slug();

do $$ begin
  execute format('alter function keep_slug set search_path = %I, pg_temp', current_schema());
  execute format('alter function slug_is_taken set search_path = %I, pg_temp', current_schema());
end $$;
