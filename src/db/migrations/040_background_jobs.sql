-- Work that happens later had two homes: public jobs, and chores that each worker did for all tenants one after the other.
-- One tenant whose chore failed, or took long, kept all others waiting. Now each piece of work is a row of its own.

-- A lease belonged to each job, so heartbeats waited for the transactions of their own jobs. It belongs to the process now.
create table workers (
  worker_id   text collate "C" primary key,
  alive_until timestamptz not null
);
comment on table workers is 'A row for each process that runs jobs at the moment; its heartbeat moves alive_until. A job whose worker has no row, or a late one, is taken over.';

alter table jobs add column worker_id text collate "C";
comment on table jobs is 'The queue and the public record of a job at once. (attempt, worker_id) say who runs it: each claim raises attempt. failures counts the attempts since the last progress.';
-- contract: workers of the release before read lease_until; they are stopped before this one starts.
alter table jobs drop column lease_until;

create table background_jobs (
  job_id       text collate "C" primary key default gen_random_uuid(),
  name         text collate "C" not null,
  lane         text collate "C" not null,
  key          text collate "C" not null,
  workspace_id text collate "C" references workspaces on delete cascade,
  wiki_id      text collate "C" references wikis on delete cascade,
  user_id      text collate "C" references users on delete cascade,
  input        jsonb not null default '{}',
  status       text collate "C" not null default 'queued' check (status in ('queued', 'running', 'failed')),
  attempt      int not null default 0,
  failures     int not null default 0 check (failures >= 0),
  error        text not null default '',
  worker_id    text collate "C",
  run_after    timestamptz not null default now(),
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
);
comment on table background_jobs is 'Jobs that are no public record: mail, maintenance, the search index. One that has ended well is deleted; one that used up its attempts stays as failed (dead letter). key: at most one of a name and key is queued and one is running. workspace_id, wiki_id and user_id say for whom it is; none for the service itself.';
create unique index background_jobs_queued on background_jobs (name, key) where status = 'queued';
create unique index background_jobs_running on background_jobs (name, key) where status = 'running';
create index background_jobs_waiting on background_jobs (lane, run_after) where status = 'queued';
create index background_jobs_of_workspace on background_jobs (workspace_id) where workspace_id is not null;
create index background_jobs_of_wiki on background_jobs (wiki_id) where wiki_id is not null;
create index background_jobs_of_user on background_jobs (user_id) where user_id is not null;

create table schedules (
  name   text collate "C" primary key,
  due_at timestamptz not null
);
comment on table schedules is 'When a scheduled job of the service is due next, so that of several processes one enqueues it.';

grant select, insert, update, delete on workers, background_jobs, schedules to ibid_service;
alter table background_jobs enable row level security;
create policy of_the_service on background_jobs using ((select is_service()));
-- A request adds jobs for what it sees and nothing else.
create policy tenants_add on background_jobs for insert with check (
  (wiki_id is not null or workspace_id is not null or user_id is not null)
  and (wiki_id is null or wiki_id = (select own_wiki()))
  and (workspace_id is null or workspace_id = any ((select own_workspaces())::text[]))
  and (user_id is null or user_id = (select own_user())));

drop function jobs_to_claim(text[], boolean);
create function jobs_to_claim(any_of text[], only_idle_workspaces boolean) returns table (wiki_id text, job_id text, attempt int)
language sql stable security definer as $$
  with open as (
    select j.*, coalesce(w.workspace_id, '') as workspace_id, j.status = 'running' as in_work
    from jobs j join wikis w on w.wiki_id = j.wiki_id where j.status in ('queued', 'running') and (select is_service())
  ), counted as (
    select o.*, count(*) filter (where o.in_work) over (partition by o.workspace_id) as working from open o
  )
  select c.wiki_id, c.job_id, c.attempt from counted c
  where c.status = 'queued' and c.run_after <= now() and c.kind = any (any_of) and not (only_idle_workspaces and c.working > 0)
    and not exists (
      select from open other where other.wiki_id = c.wiki_id and other.started_at is not null and other.job_id <> c.job_id)
  order by c.working, c.run_after, c.job_id limit 5
$$;
comment on function jobs_to_claim is
  'For the queue, which belongs to no workspace. only_idle_workspaces: only jobs of workspaces of which nothing is running.';

-- What the scheduler asks: which tenants have work of a kind. Those that have a job for it already are left out there, so no
-- limit stands here that they could fill.
drop function indexes_with_work(int, interval);
create function wikis_to_index(enough int, age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k join (
    select p.wiki_id from search_pending p group by p.wiki_id, p.kind
    having count(*) >= enough or min(p.created_at) < now() - age
    union
    select w.wiki_id from search_wikis w where w.is_stale and not exists (
      select from jobs j where j.wiki_id = w.wiki_id and j.kind = 'reindex' and j.status in ('queued', 'running'))
  ) due on due.wiki_id = k.wiki_id
$$;
comment on function wikis_to_index is 'For the scheduler: wikis with pending documents to merge, or whose impacts have to be computed again.';

drop function deleted_wikis();
create function deleted_wikis() returns table (wiki_id text, workspace_id text) language sql stable security definer
  as $$ select k.wiki_id, k.workspace_id from wikis k where k.workspace_id is null $$;
comment on function deleted_wikis is 'For the scheduler: wikis that were deleted and whose content is still there.';

drop function wikis_with_old_trash(interval);
create function wikis_with_old_trash(age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.wiki_id in (select p.wiki_id from pages p where p.trashed_at < now() - age)
$$;
comment on function wikis_with_old_trash is 'For the scheduler: wikis with pages that were in the trash for so long.';

drop function wikis_with_forgotten_uploads(interval);
create function wikis_with_expired_uploads(age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.wiki_id in (select u.wiki_id from uploads u where u.status = 'uploading' and u.updated_at < now() - age)
$$;
comment on function wikis_with_expired_uploads is 'For the scheduler: wikis with uploads that received no bytes for so long.';

-- What the sender of an invitation sees of its mail.
alter table invitations add column mail_status text collate "C" not null default 'sent';
alter table invitations add constraint invitations_mail_status_check
  check (mail_status in ('queued', 'sent', 'bounced', 'failed')) not valid;
comment on column invitations.mail_status is 'queued until the mail server took the message; bounced: it refused the address; failed: it could not be reached for as long as is tried.';

-- The context of a job may be a workspace, too; and the function says by its name what it does.
drop function enter(text, bytea, text, text, text, text, bytea, text);
create function set_request_context(
  who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text, invitation bytea, new_workspace text
) returns void language plpgsql security definer as $$
declare
  me text := '';
  bound text;
  wiki text := '';
  workspaces text[] := '{}';
begin
  case who
    when 'key' then
      select k.user_id, k.workspace_id into me, bound from api_keys k
      where k.secret_hash = hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
    when 'session' then
      select s.user_id into me from sessions s
      where s.access_hash = hash and s.access_expires_at > now() and s.expires_at > now() and s.revoked_at is null;
    when 'link' then
      null;
    when 'identity' then
      select i.user_id into me from identities i where i.issuer = name and i.subject = second_name;
    when 'widget' then
      me := name;
      bound := second_name;
    when 'job' then
      if path_wiki is not null then
        select k.wiki_id, array[k.workspace_id] into wiki, workspaces from wikis k where k.wiki_id = path_wiki;
      else
        workspaces := array[path_workspace];
      end if;
    when 'service' then
      perform set_config('ibid.service', 'on', true);
  end case;
  if path_wiki is not null and who <> 'job' then
    select k.wiki_id, array[m.workspace_id] into wiki, workspaces
    from wikis k join memberships m on m.workspace_id = k.workspace_id and m.user_id = me and m.status = 'active'
    where k.wiki_id = path_wiki and (bound is null or bound = k.workspace_id);
  elsif path_workspace is not null and who <> 'job' then
    workspaces := array(
      select m.workspace_id from memberships m
      where m.user_id = me and m.workspace_id = path_workspace and m.status = 'active'
        and (bound is null or bound = m.workspace_id));
  elsif who <> 'job' then
    workspaces := array(
      select m.workspace_id from memberships m
      where m.user_id = me and m.status = 'active' and (bound is null or bound = m.workspace_id));
    if invitation is not null then
      workspaces := workspaces || array(select i.workspace_id from invitations i where i.secret_hash = invitation);
    end if;
    if new_workspace is not null and not exists (select from workspaces w where w.workspace_id = new_workspace) then
      workspaces := workspaces || new_workspace;
    end if;
  end if;
  perform set_config('ibid.user', coalesce(me, ''), true), set_config('ibid.wiki', coalesce(wiki, ''), true),
    set_config('ibid.workspaces', coalesce(array_to_string(workspaces, ' '), ''), true);
end $$;
comment on function set_request_context is 'Says for this transaction who asks and for what. It looks at the credential and the memberships itself, and not at what the guard of a statement found out. invitation: the hash of a link''s secret, which opens the workspace that it is for; new_workspace: the id of a workspace that is about to be created.';

-- A function that runs as its owner looks for tables where they are, and never in a schema that its caller chose.
do $$
declare
  f regprocedure;
begin
  for f in select oid from pg_proc where prosecdef and proconfig is null and pronamespace = current_schema()::regnamespace loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
