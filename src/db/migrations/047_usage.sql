-- What a workspace holds was counted nowhere, so nothing could be limited but seats. Now every statement that writes counts
-- what it changed. A counter in one row would let the writers of a workspace wait for each other until their commits, so
-- each transaction adds a row of its own, and a job merges the rows.

create table workspace_usage (
  workspace_id   text collate "C" not null,
  transaction_id bigint not null,
  bytes          bigint not null default 0,
  pages          bigint not null default 0,
  files          bigint not null default 0,
  wikis          bigint not null default 0,
  invitations    bigint not null default 0,
  keys           bigint not null default 0,
  jobs           bigint not null default 0,
  counted_at     timestamptz not null default now(),
  primary key (workspace_id, transaction_id)
);
comment on table workspace_usage is 'What each transaction changed in what a workspace holds; the sum over a workspace is its usage. Rows of ended transactions are merged into the one with transaction_id 0, whose counted_at says when it was last compared with what is there. No foreign key: it would wait for whoever has locked the workspace.';

create table plan_limits (
  plan_id text collate "C" primary key,
  limits  jsonb not null
);
comment on table plan_limits is 'The limits of the plans, written at the start of the service from its catalogue and options. plan_id '''': of every workspace, where its plan does not say otherwise. A limit of null is none.';

create table workspace_controls (
  workspace_id         text collate "C" primary key references workspaces on delete cascade,
  limits               jsonb not null default '{}',
  jobs_are_paused      boolean not null default false,
  job_share            int not null default 1 check (job_share between 1 and 100),
  widget_tokens_after  timestamptz not null default '-infinity'
);
comment on table workspace_controls is 'What the operator has set for a workspace. limits take precedence over those of its plan. job_share: how many of its jobs run before workspaces without running jobs come first. Widget tokens issued before widget_tokens_after are refused.';

grant select on workspace_usage, workspace_controls to ibid_service;
alter table workspace_usage enable row level security;
create policy of_the_workspaces on workspace_usage using (workspace_id = any ((select own_workspaces())::text[]));
alter table workspace_controls enable row level security;
create policy of_the_workspaces on workspace_controls using (workspace_id = any ((select own_workspaces())::text[]));
alter table plan_limits enable row level security;

alter table wikis add column deleted_from text collate "C";
comment on column wikis.deleted_from is 'The workspace of a deleted wiki: its content counts there until it is removed.';

-- Counting

create function add_usage(
  workspace text, bytes bigint = 0, pages bigint = 0, files bigint = 0, wikis bigint = 0, invitations bigint = 0,
  keys bigint = 0, jobs bigint = 0
) returns void language plpgsql security definer as $$
begin
  if workspace is null or ($2, $3, $4, $5, $6, $7, $8) = (0, 0, 0, 0, 0, 0, 0) then return; end if;
  insert into workspace_usage as u values (workspace, pg_current_xact_id()::text::bigint, $2, $3, $4, $5, $6, $7, $8)
  on conflict on constraint workspace_usage_pkey do update set
    bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
    wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
    jobs = u.jobs + excluded.jobs;
end $$;
comment on function add_usage is 'Adds to what this transaction changed in a workspace.';

create function add_wiki_usage(wiki text, bytes bigint = 0, pages bigint = 0, files bigint = 0, jobs bigint = 0)
returns void language plpgsql security definer as $$
begin
  if ($2, $3, $4, $5) = (0, 0, 0, 0) then return; end if;
  perform add_usage(coalesce(k.workspace_id, k.deleted_from), $2, $3, $4, jobs => $5) from wikis k where k.wiki_id = wiki;
end $$;
comment on function add_wiki_usage is 'Adds to what this transaction changed in the workspace of a wiki, also of a deleted one.';

create function count_pages() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, pages => count(*)) from new_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, pages => -count(*)) from old_rows r group by r.wiki_id;
  end if;
  return null;
end $$;

-- The length of a stored text is known without reading it.
create function count_revisions() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(octet_length(r.markdown) + octet_length(r.html))::bigint)
    from new_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, -sum(octet_length(r.markdown) + octet_length(r.html))::bigint)
    from old_rows r group by r.wiki_id;
  end if;
  return null;
end $$;

create function count_stored_files() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(r.byte_size)::bigint) from new_rows r group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, -sum(r.byte_size)::bigint) from old_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, sum(r.byte_size)::bigint)
    from (select wiki_id, byte_size from new_rows union all select wiki_id, -byte_size from old_rows) r group by r.wiki_id;
  end if;
  return null;
end $$;
comment on function count_stored_files is 'For tables that refer to a stored file and have its byte_size.';

create function upload_file_bytes(status text, kind text, sha256 text, byte_size bigint) returns bigint
language sql immutable parallel safe as $$
  select case when kind = 'file' and (status = 'pending' or (status = 'failed' and sha256 <> '')) then byte_size else 0 end
$$;
comment on function upload_file_bytes is 'The bytes that count of a file of an upload: from when it is announced until it is a source, or until its bytes are given up.';

create function count_upload_files() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, sum(upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => count(*) filter (where r.kind = 'file' and r.status = 'pending'))
    from new_rows r group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, -sum(upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => -count(*) filter (where r.kind = 'file' and r.status = 'pending'))
    from old_rows r group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, sum(r.sign * upload_file_bytes(r.status, r.kind, r.sha256, r.byte_size))::bigint,
      files => coalesce(sum(r.sign) filter (where r.kind = 'file' and r.status = 'pending'), 0)::bigint)
    from (
      select 1 as sign, wiki_id, status, kind, sha256, byte_size from new_rows
      union all select -1, wiki_id, status, kind, sha256, byte_size from old_rows
    ) r group by r.wiki_id;
  end if;
  return null;
end $$;

create function is_open_job(status text, kind text) returns boolean language sql immutable parallel safe
  as $$ select status in ('queued', 'running') and kind <> 'reindex' $$;
comment on function is_open_job is 'Whether a job counts: those that the service makes by itself do not.';

create function count_jobs() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_wiki_usage(r.wiki_id, jobs => count(*)) from new_rows r where is_open_job(r.status, r.kind) group by r.wiki_id;
  elsif tg_op = 'DELETE' then
    perform add_wiki_usage(r.wiki_id, jobs => -count(*)) from old_rows r where is_open_job(r.status, r.kind) group by r.wiki_id;
  else
    perform add_wiki_usage(r.wiki_id, jobs => sum(r.sign)::bigint)
    from (
      select 1 as sign, wiki_id from new_rows where is_open_job(status, kind)
      union all select -1, wiki_id from old_rows where is_open_job(status, kind)
    ) r group by r.wiki_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_wikis() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, wikis => count(*)) from new_rows r group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, wikis => -count(*)) from old_rows r group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, wikis => sum(r.sign)::bigint)
    from (select 1 as sign, workspace_id from new_rows union all select -1, workspace_id from old_rows) r
    group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_invitations() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, invitations => count(*)) from new_rows r where r.state = 'pending' group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, invitations => -count(*)) from old_rows r where r.state = 'pending' group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, invitations => sum(r.sign)::bigint)
    from (
      select 1 as sign, workspace_id from new_rows where state = 'pending'
      union all select -1, workspace_id from old_rows where state = 'pending'
    ) r group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

create function count_keys() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    perform add_usage(r.workspace_id, keys => count(*)) from new_rows r where r.revoked_at is null group by r.workspace_id;
  elsif tg_op = 'DELETE' then
    perform add_usage(r.workspace_id, keys => -count(*)) from old_rows r where r.revoked_at is null group by r.workspace_id;
  else
    perform add_usage(r.workspace_id, keys => sum(r.sign)::bigint)
    from (
      select 1 as sign, workspace_id from new_rows where revoked_at is null
      union all select -1, workspace_id from old_rows where revoked_at is null
    ) r group by r.workspace_id having sum(r.sign) <> 0;
  end if;
  return null;
end $$;

-- A trigger of each statement, however many rows it writes.
create trigger usage_on_insert after insert on pages
  referencing new table as new_rows for each statement execute function count_pages();
create trigger usage_on_delete after delete on pages
  referencing old table as old_rows for each statement execute function count_pages();
create trigger usage_on_insert after insert on revisions
  referencing new table as new_rows for each statement execute function count_revisions();
create trigger usage_on_delete after delete on revisions
  referencing old table as old_rows for each statement execute function count_revisions();
create trigger usage_on_insert after insert on sources
  referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_delete after delete on sources
  referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on attachments
  referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_delete after delete on attachments
  referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on imports
  referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_delete after delete on imports
  referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on exports
  referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_update after update on exports
  referencing old table as old_rows new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_delete after delete on exports
  referencing old table as old_rows for each statement execute function count_stored_files();
create trigger usage_on_insert after insert on upload_files
  referencing new table as new_rows for each statement execute function count_upload_files();
create trigger usage_on_update after update on upload_files
  referencing old table as old_rows new table as new_rows for each statement execute function count_upload_files();
create trigger usage_on_delete after delete on upload_files
  referencing old table as old_rows for each statement execute function count_upload_files();
create trigger usage_on_insert after insert on jobs
  referencing new table as new_rows for each statement execute function count_jobs();
create trigger usage_on_update after update on jobs
  referencing old table as old_rows new table as new_rows for each statement execute function count_jobs();
create trigger usage_on_delete after delete on jobs
  referencing old table as old_rows for each statement execute function count_jobs();
create trigger usage_on_insert after insert on wikis
  referencing new table as new_rows for each statement execute function count_wikis();
create trigger usage_on_update after update on wikis
  referencing old table as old_rows new table as new_rows for each statement execute function count_wikis();
create trigger usage_on_delete after delete on wikis
  referencing old table as old_rows for each statement execute function count_wikis();
create trigger usage_on_insert after insert on invitations
  referencing new table as new_rows for each statement execute function count_invitations();
create trigger usage_on_update after update on invitations
  referencing old table as old_rows new table as new_rows for each statement execute function count_invitations();
create trigger usage_on_delete after delete on invitations
  referencing old table as old_rows for each statement execute function count_invitations();
create trigger usage_on_insert after insert on api_keys
  referencing new table as new_rows for each statement execute function count_keys();
create trigger usage_on_update after update on api_keys
  referencing old table as old_rows new table as new_rows for each statement execute function count_keys();
create trigger usage_on_delete after delete on api_keys
  referencing old table as old_rows for each statement execute function count_keys();

create function actual_usage(workspace text) returns table (
  bytes bigint, pages bigint, files bigint, wikis bigint, invitations bigint, keys bigint, jobs bigint
) language sql stable security definer as $$
  with mine as (
    select k.wiki_id from wikis k where k.workspace_id = workspace or (k.workspace_id is null and k.deleted_from = workspace)
  ), uploaded as (
    select coalesce(sum(upload_file_bytes(f.status, f.kind, f.sha256, f.byte_size)), 0)::bigint as bytes,
      count(*) filter (where f.kind = 'file' and f.status = 'pending') as files
    from upload_files f where f.wiki_id in (select wiki_id from mine)
  )
  select u.bytes
      + coalesce((select sum(octet_length(r.markdown) + octet_length(r.html)) from revisions r where r.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(s.byte_size) from sources s where s.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(a.byte_size) from attachments a where a.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(e.byte_size) from exports e where e.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(i.byte_size) from imports i where i.wiki_id in (select wiki_id from mine)), 0)::bigint,
    (select count(*) from pages p where p.wiki_id in (select wiki_id from mine)),
    u.files,
    (select count(*) from wikis k where k.workspace_id = workspace),
    (select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending'),
    (select count(*) from api_keys k where k.workspace_id = workspace and k.revoked_at is null),
    (select count(*) from jobs j where j.wiki_id in (select wiki_id from mine) and is_open_job(j.status, j.kind))
  from uploaded u
$$;
comment on function actual_usage is 'What a workspace holds, by reading all of it. The counts say the same.';

create function correct_usage(workspace text, out drift jsonb) language plpgsql security definer as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('correct usage of ' || workspace, 0));
  -- One statement sees the rows and their counts as of one moment, so it is right however many write meanwhile.
  with counted as (
    select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.pages), 0)::bigint as pages,
      coalesce(sum(u.files), 0)::bigint as files, coalesce(sum(u.wikis), 0)::bigint as wikis,
      coalesce(sum(u.invitations), 0)::bigint as invitations, coalesce(sum(u.keys), 0)::bigint as keys,
      coalesce(sum(u.jobs), 0)::bigint as jobs
    from workspace_usage u where u.workspace_id = workspace
  ), missing as (
    select a.bytes - c.bytes as bytes, a.pages - c.pages as pages, a.files - c.files as files, a.wikis - c.wikis as wikis,
      a.invitations - c.invitations as invitations, a.keys - c.keys as keys, a.jobs - c.jobs as jobs
    from counted c, actual_usage(workspace) a
  ), corrected as (
    insert into workspace_usage as u
    select workspace, 0, m.bytes, m.pages, m.files, m.wikis, m.invitations, m.keys, m.jobs from missing m
    on conflict (workspace_id, transaction_id) do update set counted_at = now(),
      bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
      wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
      jobs = u.jobs + excluded.jobs
  )
  select coalesce(jsonb_object_agg(d.key, d.value), '{}') into drift
  from missing m, jsonb_each(to_jsonb(m)) d where d.value <> '0';
end $$;
comment on function correct_usage is 'Counts again by reading all of a workspace, and corrects its usage. Returns what was missing in the counts, by name.';

create function merge_usage(batch int) returns bigint language sql security definer as $$
  with ended as (
    delete from workspace_usage u where (u.workspace_id, u.transaction_id) in (
      select o.workspace_id, o.transaction_id from workspace_usage o where o.transaction_id <> 0 limit batch for update skip locked)
    returning u.*
  ), merged as (
    insert into workspace_usage as u
    select e.workspace_id, 0, sum(e.bytes), sum(e.pages), sum(e.files), sum(e.wikis), sum(e.invitations), sum(e.keys), sum(e.jobs)
    from ended e group by e.workspace_id order by e.workspace_id
    on conflict (workspace_id, transaction_id) do update set
      bytes = u.bytes + excluded.bytes, pages = u.pages + excluded.pages, files = u.files + excluded.files,
      wikis = u.wikis + excluded.wikis, invitations = u.invitations + excluded.invitations, keys = u.keys + excluded.keys,
      jobs = u.jobs + excluded.jobs
  )
  select count(*) from ended
$$;
comment on function merge_usage is 'Merges rows of ended transactions, at most so many, and returns how many.';

-- Limits

create function usage_and_limits(workspace text) returns table (name text, used bigint, allowed bigint)
language plpgsql stable security definer as $$
begin
  return query with sums as (
    select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.pages), 0)::bigint as pages,
      coalesce(sum(u.files), 0)::bigint as files, coalesce(sum(u.wikis), 0)::bigint as wikis,
      coalesce(sum(u.invitations), 0)::bigint as invitations, coalesce(sum(u.keys), 0)::bigint as keys,
      coalesce(sum(u.jobs), 0)::bigint as jobs
    from workspace_usage u where u.workspace_id = workspace
  ), effective as (
    select coalesce((select p.limits from plan_limits p where p.plan_id = ''), '{}')
      || coalesce((select p.limits from subscriptions s join plan_limits p on p.plan_id = s.plan_id
        where s.workspace_id = workspace and s.plan_id <> ''), '{}')
      || coalesce((select c.limits from workspace_controls c where c.workspace_id = workspace), '{}') as limits
  )
  select n.name, n.used, (a.limits ->> n.name)::bigint
  from sums u cross join effective a cross join lateral (values
    ('bytes', u.bytes), ('pages', u.pages), ('files', u.files), ('wikis', u.wikis), ('invitations', u.invitations),
    ('keys', u.keys), ('jobs', u.jobs)) n (name, used);
end $$;
comment on function usage_and_limits is 'How much a workspace has of everything that is limited, and how much it may have; null: any amount.';
revoke execute on function usage_and_limits, actual_usage, correct_usage, merge_usage, add_usage, add_wiki_usage from public;

create function usage_of(workspace text) returns table (name text, used bigint, allowed bigint)
language sql stable security definer as $$
  select q.name, q.used, q.allowed from usage_and_limits(workspace) q
  where (select is_service()) or workspace = any ((select own_workspaces())::text[])
$$;
comment on function usage_of is 'usage_and_limits, for who may see the workspace.';

create function refuse_above_quota() returns trigger language plpgsql security definer as $$
declare
  change jsonb;
  exceeded record;
begin
  select to_jsonb(u) into change from workspace_usage u
  where u.workspace_id = new.workspace_id and u.transaction_id = new.transaction_id;
  -- Far from its limit a small change is let through: until others see it, the rest of 10 % is enough for all of them.
  if not exists (
    select from usage_and_limits(new.workspace_id) q
    where (change ->> q.name)::bigint > 0
      and (q.used > q.allowed - q.allowed / 10 or (change ->> q.name)::bigint > q.allowed / 1000)
  ) then
    return null;
  end if;
  -- It is the end of the transaction, so the lock is held for the time of a commit. What is read now includes what was
  -- committed while this one waited.
  perform pg_advisory_xact_lock(hashtextextended('quota of ' || new.workspace_id, 0));
  select q.name, q.used, q.allowed into exceeded from usage_and_limits(new.workspace_id) q
  where (change ->> q.name)::bigint > 0 and q.used > q.allowed limit 1;
  if found then
    raise exception 'a limit of the workspace is exceeded' using errcode = 'IBQUO', detail = to_jsonb(exceeded)::text;
  end if;
  return null;
end $$;
comment on function refuse_above_quota is 'Fails with SQLSTATE IBQUO, at the end of a transaction, what raises the usage of a workspace above one of its limits. What is above already may stay, and shrink.';

create constraint trigger quota after insert on workspace_usage deferrable initially deferred
  for each row when (new.transaction_id <> 0) execute function refuse_above_quota();

create function usage_of_all(top int) returns table (workspace_id text, name text, used bigint)
language sql stable security definer as $$
  with sums as (
    select u.workspace_id, sum(u.bytes)::bigint as bytes, sum(u.pages)::bigint as pages, sum(u.files)::bigint as files,
      sum(u.wikis)::bigint as wikis, sum(u.invitations)::bigint as invitations, sum(u.keys)::bigint as keys,
      sum(u.jobs)::bigint as jobs
    from workspace_usage u where (select is_service()) group by u.workspace_id
  ), everything as (
    select '' as workspace_id, sum(bytes)::bigint, sum(pages)::bigint, sum(files)::bigint, sum(wikis)::bigint,
      sum(invitations)::bigint, sum(keys)::bigint, sum(jobs)::bigint from sums
    union all (select * from sums order by bytes desc, workspace_id limit top)
  )
  select e.workspace_id, n.name, n.used
  from everything e (workspace_id, bytes, pages, files, wikis, invitations, keys, jobs) cross join lateral (values
    ('bytes', e.bytes), ('pages', e.pages), ('files', e.files), ('wikis', e.wikis), ('invitations', e.invitations),
    ('keys', e.keys), ('jobs', e.jobs)) n (name, used)
  where n.used is not null
$$;
comment on function usage_of_all is 'For /metrics: the sums over all workspaces under the id '''', and the workspaces with the most bytes.';

create function merge_ended_usage(batch int) returns bigint language sql security definer
  as $$ select case when is_service() then merge_usage(batch) else 0 end $$;
comment on function merge_ended_usage is 'For the job that merges.';

create function workspaces_to_recount(age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select null::text, u.workspace_id from workspace_usage u where u.transaction_id = 0 and u.counted_at < now() - age
$$;
comment on function workspaces_to_recount is 'For the scheduler: workspaces whose usage was compared with what they hold so long ago.';

create function recount_usage(workspace text) returns jsonb language sql security definer
  as $$ select case when workspace = any ((select own_workspaces())::text[]) then correct_usage(workspace) end $$;
comment on function recount_usage is 'correct_usage, for who may see the workspace.';

-- What is given up

create function wikis_with_failed_files(age interval) returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k
  where k.wiki_id in (
    select f.wiki_id from upload_files f join uploads u on u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
    where f.kind = 'file' and f.status = 'failed' and f.sha256 <> '' and u.status = 'failed' and u.finished_at < now() - age)
$$;
comment on function wikis_with_failed_files is 'For the scheduler: wikis with uploads that failed so long ago and whose bytes are still there.';

alter policy of_the_wiki on imports using (wiki_id = (select own_wiki()) or (select is_service()));

-- The queue

create or replace function jobs_to_claim(any_of text[], only_idle_workspaces boolean)
returns table (wiki_id text, job_id text, attempt int) language sql stable security definer as $$
  with open as (
    select j.*, coalesce(w.workspace_id, '') as workspace_id, j.status = 'running' as in_work,
      coalesce(s.jobs_are_paused, false) as is_paused, coalesce(s.job_share, 1) as share
    from jobs j join wikis w on w.wiki_id = j.wiki_id left join workspace_controls s on s.workspace_id = w.workspace_id
    where j.status in ('queued', 'running') and (select is_service())
  ), counted as (
    select o.*, count(*) filter (where o.in_work) over (partition by o.workspace_id) / o.share as working from open o
  )
  select c.wiki_id, c.job_id, c.attempt from counted c
  where c.status = 'queued' and not c.is_paused and c.run_after <= now() and c.kind = any (any_of)
    and not (only_idle_workspaces and c.working > 0)
    and not exists (
      select from open other where other.wiki_id = c.wiki_id and other.started_at is not null and other.job_id <> c.job_id)
  order by c.working, c.run_after, c.job_id limit 5
$$;
comment on function jobs_to_claim is 'For the queue, which belongs to no workspace. A workspace with a share of 2 counts as having half as many running jobs. only_idle_workspaces: only jobs of workspaces that count as having none. Jobs of paused workspaces are left out.';

-- What is done with a file of an upload is a source, whose row refers to the same bytes; the parts of a document are read
-- from them as well. Until now they stayed for as long as their wiki, also after the source was deleted.
-- A condition within a branch would keep its table from being read by the index.
create or replace view blob_references as
  select r.sha256, r.kind, r.wiki_id, r.id, r.since
  from (
    select f.sha256, 'upload_file' as kind, f.wiki_id, f.upload_id as id,
      (select u.created_at from uploads u where u.wiki_id = f.wiki_id and u.upload_id = f.upload_id) as since,
      f.kind <> 'file' or f.status = 'done' as is_released
    from upload_files f
    union all
    select s.sha256, 'source', s.wiki_id, s.source_id, s.created_at, false from sources s
    union all
    select a.sha256, 'attachment', a.wiki_id, a.attachment_id, a.created_at, false from attachments a
    union all
    select e.sha256, 'export', e.wiki_id, e.export_id,
      (select j.created_at from jobs j where j.wiki_id = e.wiki_id and j.job_id = e.export_id), false
    from exports e
    union all
    select i.sha256, 'import', i.wiki_id, i.import_id,
      (select j.created_at from jobs j where j.wiki_id = i.wiki_id and j.job_id = i.import_id), false
    from imports i
  ) r
  where r.sha256 <> '' and not r.is_released and (select is_service());

do $$
declare
  each text;
begin
  foreach each in array array['add_usage', 'add_wiki_usage', 'count_pages', 'count_revisions', 'count_stored_files',
    'count_upload_files', 'count_jobs', 'count_wikis', 'count_invitations', 'count_keys', 'actual_usage', 'correct_usage',
    'merge_usage', 'usage_and_limits', 'usage_of', 'refuse_above_quota', 'usage_of_all', 'merge_ended_usage',
    'workspaces_to_recount', 'recount_usage', 'wikis_with_failed_files', 'jobs_to_claim']
  loop
    execute format('alter function %s set search_path = %I, pg_temp', each::regproc, current_schema());
  end loop;
end $$;
