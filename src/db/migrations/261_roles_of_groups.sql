-- works with: 210_wikis_to_index.sql
-- Groups of the OpenID provider decide memberships. What people decided by hand stays theirs: such a membership has no group_role,
-- or another role or status than its group left it with.
alter table memberships add column group_role text;
comment on column memberships.group_role is 'The role that a group of the OpenID provider gave; "ended" once no group gave one any more. Null, or another role or status than this: decided by hand, so groups change nothing.';

create function follow_groups(session text, wanted jsonb)
returns table (workspace text, slug text, name text, outcome text, membership text, person text, was jsonb, became jsonb)
language plpgsql security definer as $$
declare
  entry record;
  seats workspaces;
  present memberships;
begin
  if not coalesce(is_service(), false) then return; end if;
  select s.user_id into person from sessions s where s.session_id = session;
  for entry in
    -- A workspace may be named by its slug, one that it had before, and its id.
    select distinct on (1, case when w.workspace_id is null then e.slug end)
      coalesce(w.workspace_id, m.workspace_id) as workspace_id, e.slug, e.role, e.membership_id
    from jsonb_to_recordset(wanted) as e (slug text, role text, membership_id text)
    left join lateral (
      select o.workspace_id from workspaces o where o.slug = e.slug and o.deleted_at is null
      union select o.workspace_id from workspaces o where o.workspace_id = e.slug and o.deleted_at is null
      union select l.workspace_id from workspace_slugs l where l.slug = e.slug
      limit 1) w on true
    full join (select o.workspace_id from memberships o where o.user_id = person and o.group_role is not null) m
      on m.workspace_id = w.workspace_id
    order by 1 nulls first, case when w.workspace_id is null then e.slug end,
      array_position(array['admin', 'developer', 'member', 'billing', 'viewer'], e.role)
  loop
    workspace := entry.workspace_id;
    slug := entry.slug;
    name := null;
    outcome := null;
    membership := null;
    was := '{}';
    became := '{}';
    if workspace is null then
      outcome := 'unknown';
      return next;
      continue;
    end if;
    select w.* into seats from workspaces w where w.workspace_id = workspace for no key update;
    if not found or seats.deleted_at is not null then continue; end if;
    slug := seats.slug;
    name := seats.name;
    select m.* into present from memberships m where m.workspace_id = workspace and m.user_id = person;
    membership := coalesce(present.membership_id, entry.membership_id);
    if present.membership_id is not null and present.status = 'active' then
      if present.group_role is distinct from present.role then continue; end if;
      if entry.role is null then
        update memberships m set status = 'inactive', group_role = 'ended' where m.membership_id = membership;
        outcome := 'ended';
        was := jsonb_build_object('status', 'active');
        became := jsonb_build_object('status', 'inactive');
      elsif entry.role <> present.role then
        update memberships m set role = entry.role, group_role = entry.role where m.membership_id = membership;
        outcome := 'changed';
        was := jsonb_build_object('role', present.role);
        became := jsonb_build_object('role', entry.role);
      else
        continue;
      end if;
    elsif entry.role is null or (present.membership_id is not null and present.group_role is distinct from 'ended') then
      continue;
    elsif is_read_only(workspace) then
      outcome := 'unpaid';
    elsif not seats.seats_unlimited and not seats.seats_overage and seats.seats_granted <= (
      select count(*) from memberships m where m.workspace_id = workspace and m.status = 'active') + (
      select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending' and i.expires_at > now())
    then
      outcome := 'full';
    elsif present.membership_id is null then
      insert into memberships (membership_id, workspace_id, user_id, role, group_role)
      values (membership, workspace, person, entry.role, entry.role);
      outcome := 'joined';
      became := jsonb_build_object('membership_id', membership, 'workspace_id', workspace, 'user_id', person, 'role', entry.role, 'status', 'active');
    else
      update memberships m set status = 'active', role = entry.role, group_role = entry.role where m.membership_id = membership;
      outcome := 'changed';
      was := jsonb_build_object('status', present.status);
      became := jsonb_build_object('status', 'active');
      if present.role <> entry.role then
        was := was || jsonb_build_object('role', present.role);
        became := became || jsonb_build_object('role', entry.role);
      end if;
    end if;
    return next;
  end loop;
end $$;
comment on function follow_groups is 'Gives the user of a new session the memberships that their groups stand for, and ends those that no group stands for any more. wanted: of each workspace that the configuration names, by slug or id, the role, or none. Rows: what was done, and what could not be: unknown, full, unpaid. Memberships that people decided by hand stay.';

do $$ begin
  execute format('alter function follow_groups set search_path = %I, pg_temp', current_schema());
end $$;
