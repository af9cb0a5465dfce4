-- works with: 102_tree_version.sql
-- A read that a replica answers has to include everything that was committed before it. Positions in the write-ahead log can be
-- compared within one timeline of one database alone, and a replica has no function that tells the service its own.

create table wal_timelines (
  timeline text collate "C" primary key,
  marker   uuid not null default gen_random_uuid(),
  seen_at  timestamptz not null default now()
);
comment on table wal_timelines is
  'The timelines that the primary has written on, one more after each fail-over. A server whose last row is that of the primary has followed it there.';
grant select, insert on wal_timelines to ibid_service;

create function wait_for_replay(lsn pg_lsn, marker uuid, milliseconds int) returns void language plpgsql strict as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + make_interval(secs => milliseconds / 1000.0);
  last wal_timelines;
begin
  while coalesce(pg_last_wal_replay_lsn(), '0/0') < lsn and pg_is_in_recovery() loop
    if clock_timestamp() >= give_up_at then
      raise exception 'the replica is behind the primary' using errcode = 'IBLAG';
    end if;
    perform pg_sleep(0.001);
  end loop;
  select * into last from wal_timelines t order by t.timeline desc limit 1;
  -- The primary itself may be named as a replica; one that was is on an earlier timeline, and one that was promoted on a later one.
  if last.marker is distinct from wait_for_replay.marker
    or not pg_is_in_recovery() and left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) <> last.timeline then
    raise exception 'the replica does not follow the primary' using errcode = 'IBLAG';
  end if;
end $$;
comment on function wait_for_replay is
  'Waits until this server has everything up to a position of the primary, and fails (IBLAG) where that takes longer. Statements behind it in the same transaction see all of it.';
