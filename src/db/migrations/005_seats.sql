-- The second line behind the rules that endpoints decide under the workspace's lock: a way to become a member, or to stop
-- being an owner, that forgot its rule is refused by the database. They see all rows, whoever writes.
--
-- A lock of "no key update" waits for the lock that endpoints take and for other triggers, and not for the "key share" that
-- the foreign key of a new row has taken already: two such rows would wait for each other for ever.

create function refuse_above_seats() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  seats workspaces;
  active int;
  pending int;
  took_over boolean := false;
begin
  if tg_table_name = 'memberships' then
    if new.status <> 'active' then return null; end if;
    if tg_op = 'UPDATE' then
      if old.status = 'active' and old.workspace_id = new.workspace_id then return null; end if;
    end if;
  else
    if new.state <> 'pending' or new.expires_at <= now() then return null; end if;
    if tg_op = 'UPDATE' then
      if old.state = 'pending' and old.expires_at > now() and old.workspace_id = new.workspace_id then return null; end if;
    end if;
  end if;

  select * into seats from workspaces where workspace_id = new.workspace_id for no key update;
  if not found or seats.seats_unlimited or seats.seats_overage then return null; end if;
  -- Statements of their own: they see what was committed while this one waited for the lock.
  select count(*) into active from memberships where workspace_id = new.workspace_id and status = 'active';
  select count(*) into pending from invitations
  where workspace_id = new.workspace_id and state = 'pending' and expires_at > now();
  if tg_table_name = 'memberships' and tg_op = 'INSERT' then
    -- Whoever accepts an invitation takes over its seat, also where seats were taken away since it was made. Rows that
    -- this transaction wrote are known by its id.
    took_over := (
      select count(*) from memberships
      where workspace_id = new.workspace_id and status = 'active' and xmin = pg_current_xact_id()::xid
    ) <= (
      select count(*) from invitations
      where workspace_id = new.workspace_id and state = 'accepted' and xmin = pg_current_xact_id()::xid
    );
  end if;
  if active > seats.seats_granted or (active + pending > seats.seats_granted and not took_over) then
    raise exception 'all seats of the workspace are taken' using errcode = 'IBSEA';
  end if;
  return null;
end $$;
comment on function refuse_above_seats is 'Fails with SQLSTATE IBSEA what raises the active members and pending invitations of a workspace above its seats. Whoever is above already, because seats were taken away, stays. An invitation past its time takes no seat.';

create trigger seats after insert or update of status, workspace_id on memberships
  for each row execute function refuse_above_seats();
create trigger seats after insert or update of state, expires_at, workspace_id on invitations
  for each row execute function refuse_above_seats();

create function refuse_without_owner() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  workspace text := case when tg_op = 'INSERT' then new.workspace_id else old.workspace_id end;
begin
  perform from workspaces where workspace_id = workspace for no key update;
  -- It was deleted, and its members with it.
  if not found then return null; end if;
  if exists (select from memberships where workspace_id = workspace)
    and not exists (select from memberships where workspace_id = workspace and role = 'owner' and status = 'active')
  then
    raise exception 'the workspace would be left without an active owner' using errcode = 'IBOWN';
  end if;
  return null;
end $$;
comment on function refuse_without_owner is 'Fails with SQLSTATE IBOWN, at the end of a transaction, what leaves members without an active owner. A workspace may lose all its members at once, and go.';

create constraint trigger owner_on_join after insert on memberships
  deferrable initially deferred for each row when (new.role <> 'owner' or new.status <> 'active')
  execute function refuse_without_owner();
create constraint trigger owner_on_change after update of role, status, workspace_id on memberships
  deferrable initially deferred for each row
  when (old.role = 'owner' and old.status = 'active'
    and (new.role <> 'owner' or new.status <> 'active' or new.workspace_id <> old.workspace_id))
  execute function refuse_without_owner();
create constraint trigger owner_on_leave after delete on memberships
  deferrable initially deferred for each row when (old.role = 'owner' and old.status = 'active')
  execute function refuse_without_owner();
