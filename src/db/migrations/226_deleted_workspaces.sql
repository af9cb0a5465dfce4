-- works with: 175_packed_revisions.sql
-- Access, row-level security and lists ask for active memberships. Those of a deleted workspace are suspended, so nobody reaches it.
alter table workspaces add column deleted_at timestamptz;
comment on column workspaces.deleted_at is 'When an owner deleted the workspace; it is purged 30 days later. null: it is not deleted.';

alter table memberships
  drop constraint memberships_status_check,
  add constraint memberships_status_check check (status in ('active', 'inactive', 'suspended')) not valid;
comment on column memberships.status is 'suspended: it was active when its workspace was deleted, and is again when that is restored.';

-- The seats of a workspace that is restored are those that its members had; it loses all its owners at once.
drop trigger seats on memberships;
create trigger seats after insert on memberships for each row execute function refuse_above_seats();
create trigger seats_on_change after update of status, workspace_id on memberships
  for each row when (old.status <> 'suspended') execute function refuse_above_seats();
drop trigger owner_on_change on memberships;
create constraint trigger owner_on_change after update of role, status, workspace_id on memberships deferrable initially deferred
  for each row when (old.role = 'owner' and old.status = 'active'
    and (new.role <> 'owner' or new.status not in ('active', 'suspended') or new.workspace_id <> old.workspace_id))
  execute function refuse_without_owner();

create or replace function knows_workspace(id text) returns boolean language sql stable security definer as $$
  select exists (select from workspaces w where w.workspace_id = id and w.deleted_at is null)
$$;
create or replace function knows_wiki(id text) returns boolean language sql stable security definer as $$
  select exists (
    select from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = id and w.deleted_at is null)
$$;

create or replace function open_own_invitation(invitation text) returns boolean language plpgsql security definer as $$
declare
  opened text;
begin
  select i.workspace_id into opened from users u
  join invitations i on i.email = u.email and i.invitation_id = invitation and i.state = 'pending' and i.expires_at > now()
  join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
  where u.user_id = own_user() and u.email_verified;
  if opened is null then
    return false;
  end if;
  perform set_config('ibid.workspaces', trim(coalesce(current_setting('ibid.workspaces', true), '') || ' ' || opened), true);
  return true;
end $$;

create or replace function own_invitations()
  returns table (invitation_id text, workspace_name text, inviter_name text, email text, role text, expires_at timestamptz)
  language sql stable security definer as $$
  select i.invitation_id, w.name, b.display_name, i.email, i.role, i.expires_at
  from users u
  join invitations i on i.email = u.email and i.state = 'pending' and i.expires_at > now()
  join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
  join users b on b.user_id = i.invited_by
  where u.user_id = own_user() and u.email_verified and not exists (
    select from memberships m where m.workspace_id = i.workspace_id and m.user_id = u.user_id)
$$;

-- Nobody can empty a deleted workspace before an account is deleted. It is purged later.
create or replace function account_workspaces()
  returns table (
    workspace_id text, name text, membership_id text, is_only_owner boolean, other_members int, wikis int, is_paid boolean, is_held boolean)
  language plpgsql security definer as $$
declare
  me constant text := own_user();
begin
  if coalesce(me, '') = '' then return; end if;
  perform from workspaces w
  where w.workspace_id in (select m.workspace_id from memberships m where m.user_id = me union select * from workspaces_left(me))
  order by w.workspace_id for no key update;
  -- A statement of its own sees what was committed while this one waited for the locks.
  return query
    select w.workspace_id, case when m.membership_id is null then '' else w.name end, m.membership_id,
      coalesce(m.role = 'owner' and m.status = 'active', false) and not exists (
        select from memberships o
        where o.workspace_id = w.workspace_id and o.role = 'owner' and o.status = 'active' and o.user_id <> me),
      (select count(*)::int from memberships o where o.workspace_id = w.workspace_id and o.user_id <> me),
      (select count(*)::int from wikis k where k.workspace_id = w.workspace_id and w.deleted_at is null),
      exists (
        select from subscriptions s
        where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
      or exists (
        select from billing_customers c
        where c.workspace_id = w.workspace_id and c.checkout_opened_at > now() - interval '1 day'
          and not exists (select from subscriptions s where s.workspace_id = c.workspace_id)),
      w.held_since is not null
    from (
      select t.workspace_id from memberships t where t.user_id = me union select * from workspaces_left(me)
    ) mine (workspace_id)
    join workspaces w on w.workspace_id = mine.workspace_id
    left join memberships m on m.workspace_id = w.workspace_id and m.user_id = me
    order by w.workspace_id;
end $$;

-- Jobs that wait for a restore. Much later than any retry, and a time that can be subtracted, unlike 'infinity'.
create function never() returns timestamptz language sql immutable as $$ select timestamptz '2999-01-01 00:00:00Z' $$;
comment on function never is 'jobs.run_after of the jobs of a deleted workspace.';

create function delete_workspace(workspace text) returns boolean language plpgsql security definer as $$
declare
  held timestamptz;
begin
  if not workspace = any (own_workspaces()) then return false; end if;
  select w.held_since into held from workspaces w where w.workspace_id = workspace and w.deleted_at is null for no key update;
  if not found then return false; end if;
  if held is not null then
    raise exception 'the workspace is under a legal hold' using errcode = 'IBHLD';
  end if;
  -- A worker notices at its next write that it has lost the job.
  update jobs j set status = 'queued', worker_id = null, run_after = never(), updated_at = now(),
    failures = case when j.status = 'running' then greatest(j.failures - 1, 0) else j.failures end
  where j.wiki_id in (select k.wiki_id from wikis k where k.workspace_id = workspace) and j.status in ('queued', 'running');
  update memberships m set status = 'suspended' where m.workspace_id = workspace and m.status = 'active';
  update workspaces w set deleted_at = now() where w.workspace_id = workspace;
  return true;
end $$;
comment on function delete_workspace is 'Ends all access to a workspace that the caller sees, and stops its jobs; false if it is deleted already. Fails (IBHLD) under a legal hold. The caller of the function checks that an owner asks.';

create function deleted_workspaces() returns table (workspace_id text, name text, slug text, deleted_at timestamptz, purged_after timestamptz)
  language sql stable security definer as $$
  select w.workspace_id, w.name, w.slug, w.deleted_at, w.deleted_at + interval '30 days'
  from memberships m join workspaces w on w.workspace_id = m.workspace_id
  where m.user_id = own_user() and m.role = 'owner' and m.status = 'suspended' and w.deleted_at > now() - interval '30 days'
$$;
comment on function deleted_workspaces is 'The deleted workspaces that the caller is an owner of and can restore.';

create function restore_workspace(workspace text) returns boolean language plpgsql security definer as $$
begin
  perform from workspaces w where w.workspace_id = workspace and w.deleted_at > now() - interval '30 days'
    and w.workspace_id in (select d.workspace_id from deleted_workspaces() d) for no key update;
  -- Another owner may have restored it while this one waited for the row.
  if not found then return false; end if;
  update workspaces w set deleted_at = null where w.workspace_id = workspace;
  update memberships m set status = 'active' where m.workspace_id = workspace and m.status = 'suspended';
  update jobs j set run_after = now()
  where j.wiki_id in (select k.wiki_id from wikis k where k.workspace_id = workspace) and j.status = 'queued' and j.run_after = never();
  return true;
end $$;
comment on function restore_workspace is 'Undoes delete_workspace for one of its owners; false if it is not deleted, or too late.';

create function purge_deleted_workspaces(batch int) returns int language plpgsql security definer as $$
declare
  gone text[];
  done int;
begin
  if not coalesce(is_service(), false) then return 0; end if;
  -- A plan can be resumed at the payment provider after the deletion: whoever pays can ask the operator.
  gone := array(
    select w.workspace_id from workspaces w
    where w.deleted_at < now() - interval '30 days' and w.held_since is null and not exists (
      select from subscriptions s where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
    order by w.deleted_at limit 10 for update skip locked);
  -- Who did what and when stays, as it does for an account.
  update audit_events e set before = '{}', after = '{}', address = '' where e.event_id in (
    select o.event_id from audit_events o
    where o.workspace_id = any (gone) and (o.before <> '{}' or o.after <> '{}' or o.address <> '') limit batch);
  get diagnostics done = row_count;
  if done = batch then return done; end if;
  -- remove-deleted-wiki empties them.
  update wikis k set workspace_id = null, deleted_from = k.workspace_id where k.workspace_id = any (gone);
  delete from workspaces w where w.workspace_id = any (gone);
  delete from workspace_usage u where u.workspace_id = any (gone);
  return done + cardinality(gone);
end $$;
comment on function purge_deleted_workspaces is 'Purges a batch of what workspaces held that were deleted more than 30 days ago; returns 0 when none is left.';

do $$
declare f text;
begin
  foreach f in array array[
    'knows_workspace(text)', 'knows_wiki(text)', 'open_own_invitation(text)', 'own_invitations()', 'account_workspaces()',
    'delete_workspace(text)', 'deleted_workspaces()', 'restore_workspace(text)', 'purge_deleted_workspaces(int)']
  loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
