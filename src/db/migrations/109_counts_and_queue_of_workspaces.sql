-- works with: 102_tree_version.sql
-- What was read of all members of a workspace to count them, and of all jobs that wait to claim one, is known by the row of the
-- workspace and by indexes.

alter table workspaces add column active_members int;
alter table workspaces alter column active_members set default 0;
comment on column workspaces.active_members is
  'How many active memberships there are. Written by the triggers of memberships alone; null until a migration has counted them.';

create function change_active_members() returns trigger language plpgsql security definer as $$
declare
  changed jsonb := '{}';
begin
  -- One update of a workspace for all rows of a statement.
  if tg_op <> 'DELETE' then
    select coalesce(jsonb_object_agg(n.workspace_id, n.members), '{}') into changed
    from (select a.workspace_id, count(*) as members from added a where a.status = 'active' group by 1) n;
  end if;
  if tg_op <> 'INSERT' then
    select changed || coalesce(jsonb_object_agg(n.workspace_id, coalesce((changed ->> n.workspace_id)::int, 0) - n.members), '{}')
    into changed
    from (select r.workspace_id, count(*) as members from removed r where r.status = 'active' group by 1) n;
  end if;
  update workspaces w set active_members = w.active_members + (changed ->> w.workspace_id)::int
  where w.workspace_id in (select c.key from jsonb_each_text(changed) c where c.value <> '0');
  return null;
end $$;
comment on function change_active_members is 'For triggers of memberships: keeps workspaces.active_members.';

create trigger members_came after insert on memberships
  referencing new table as added for each statement execute function change_active_members();
create trigger members_went after delete on memberships
  referencing old table as removed for each statement execute function change_active_members();
-- Of one with transition tables PostgreSQL takes no list of columns.
create trigger members_changed after update on memberships
  referencing old table as removed new table as added for each statement execute function change_active_members();

create function active_members_of(workspace text) returns int language plpgsql volatile security definer as $$
begin
  -- A statement of its own sees what was committed while the one that calls it waited for the row of the workspace.
  return (select count(*) from memberships m where m.workspace_id = workspace and m.status = 'active');
end $$;
comment on function active_members_of is 'For the migration that counts, which may wait for the transaction of somebody who joins.';

alter table jobs add column workspace_id text collate "C" not null default '';
comment on column jobs.workspace_id is 'Of its wiki, for the queue: written by a trigger. "" for jobs that ended before there was such a column.';

create function set_workspace_of_job() returns trigger language plpgsql security definer as $$
begin
  new.workspace_id := coalesce((select w.workspace_id from wikis w where w.wiki_id = new.wiki_id), '');
  return new;
end $$;
comment on function set_workspace_of_job is 'For the trigger of new jobs.';
create trigger workspace before insert on jobs for each row execute function set_workspace_of_job();

create or replace function jobs_to_claim(any_of text[], only_idle_workspaces boolean)
returns table (wiki_id text, job_id text, attempt int) language sql stable security definer as $$
  with recursive started as materialized (
    select j.wiki_id, j.workspace_id, j.status from jobs j
    where j.status in ('queued', 'running') and j.started_at is not null and (select is_service())
  ), running as materialized (
    select t.workspace_id, count(*) / coalesce(max(s.job_share), 1) as working
    from started t left join workspace_controls s on s.workspace_id = t.workspace_id
    where t.status = 'running' group by t.workspace_id
  ), paused as materialized (
    select s.workspace_id from workspace_controls s where s.jobs_are_paused
  ), oldest as materialized (
    select o.* from unnest(any_of) k (kind) cross join lateral (
      select j.* from jobs j
      where j.status = 'queued' and j.kind = k.kind and j.run_after <= now() and (select is_service())
      order by j.run_after, j.job_id limit 50) o
  ), idle as materialized (
    select o.* from oldest o
    where (o.started_at is not null or o.wiki_id not in (select t.wiki_id from started t))
      and o.workspace_id not in (select p.workspace_id from paused p)
      and o.workspace_id not in (select r.workspace_id from running r where r.working > 0)
      -- Of a kind of which more wait, an older one than this may be of a workspace without running jobs, too.
      and o.run_after <= coalesce((
        select min(l.newest) from (select max(run_after) as newest from oldest group by kind having count(*) = 50) l), 'infinity')
    order by o.run_after, o.job_id limit 5
  ), tenants as (
    select k.kind, (
      select j.workspace_id from jobs j where j.status = 'queued' and j.kind = k.kind and (select is_service())
      order by j.workspace_id limit 1) as workspace_id
    from unnest(any_of) k (kind)
    union all
    select t.kind, (
      select j.workspace_id from jobs j where j.status = 'queued' and j.kind = t.kind and j.workspace_id > t.workspace_id
      order by j.workspace_id limit 1)
    from tenants t where t.workspace_id is not null
  ), fair as (
    select h.*, coalesce(r.working, 0) as working
    from tenants t left join running r on r.workspace_id = t.workspace_id
    cross join lateral (
      select j.* from jobs j
      where j.status = 'queued' and j.kind = t.kind and j.workspace_id = t.workspace_id and j.run_after <= now()
        and (j.started_at is not null or j.wiki_id not in (select s.wiki_id from started s))
      order by j.run_after, j.job_id limit 5) h
    where (select count(*) from idle) < 5 and t.workspace_id not in (select p.workspace_id from paused p)
      and not (only_idle_workspaces and coalesce(r.working, 0) > 0)
  )
  select c.wiki_id, c.job_id, c.attempt from (
    select i.wiki_id, i.job_id, i.attempt, i.run_after, 0 as working from idle i where (select count(*) from idle) = 5
    union all
    select f.wiki_id, f.job_id, f.attempt, f.run_after, f.working from fair f
  ) c
  order by c.working, c.run_after, c.job_id limit 5
$$;
comment on function jobs_to_claim is 'For the queue, which belongs to no workspace. Five jobs: those of the workspaces with the fewest running jobs, the oldest first; where five of the fifty oldest of each kind are of workspaces without running jobs, these. A workspace with a share of 2 counts as having half as many running jobs. only_idle_workspaces: only jobs of workspaces that count as having none. Jobs of paused workspaces, and of wikis of which another job has started, are left out.';

-- After an upload of a thousand pages the first fifty of a list read all of them, until autovacuum came by: PostgreSQL planned for the
-- few that there were before.
create function analyze_grown_tables() returns void language plpgsql security definer as $$
declare
  t regclass;
begin
  for t in
    select c.oid from pg_class c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and pg_relation_size(c.oid) / current_setting('block_size')::int > 1.1 * greatest(c.relpages, 0) + 8
  loop
    execute format('analyze (skip_locked) %s', t);
  end loop;
end $$;
comment on function analyze_grown_tables is 'For jobs that wrote much: has PostgreSQL look at the tables that are a tenth larger than when it last did.';

do $$
declare
  f regprocedure;
begin
  for f in select oid from pg_proc
    where proname in ('change_active_members', 'active_members_of', 'set_workspace_of_job', 'jobs_to_claim',
      'analyze_grown_tables')
      and pronamespace = current_schema()::regnamespace
  loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
