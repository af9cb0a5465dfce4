-- works with: 102_tree_version.sql
-- The last calls of the API in each workspace, for those who write programs for it.

create table request_log (
  workspace_id    text collate "C" not null references workspaces on delete cascade,
  call_id         text collate "C" not null,
  request_id      text collate "C" not null,
  method          text collate "C" not null,
  path            text collate "C" not null,
  status          int not null,
  error           text collate "C" not null,
  duration_ms     int not null,
  credential_kind text collate "C" not null,
  credential_id   text collate "C" not null,
  created_at      timestamptz not null,
  primary key (workspace_id, call_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
comment on table request_log is 'The last calls with a key or an access token in each workspace. Processes write theirs together every few seconds (log_requests), so it may lack what came before a crash. call_id: ours, in the order of the calls; clients may choose request_id. path: the route with its ids, without a query.';
grant select on request_log to ibid_service;
alter table request_log enable row level security;
create policy of_the_workspaces on request_log using (workspace_id = any ((select own_workspaces())::text[]));

create function log_requests(calls jsonb, kept int) returns void language plpgsql security definer as $$
declare of_workspaces text[];
begin
  with named as (
    select c.call_id, c.request_id, c.method, c.path, c.status, c.error, c.duration_ms, c.kind, c.created_at,
      coalesce(c.workspace_id, w.workspace_id, k.workspace_id) as workspace_id, k.workspace_id as bound_to,
      coalesce(k.user_id, s.user_id, i.user_id) as user_id, coalesce(k.key_id, s.session_id, i.issuer) as credential_id
    from jsonb_to_recordset(calls) as c(
      call_id text, request_id text, method text, path text, status int, error text, duration_ms int, kind text, hash text,
      issuer text, subject text, workspace_id text, wiki_id text, created_at timestamptz)
    left join wikis w on w.wiki_id = c.wiki_id
    left join api_keys k on c.kind = 'key' and k.secret_hash = decode(c.hash, 'hex')
    left join sessions s on c.kind = 'session' and s.access_hash = decode(c.hash, 'hex')
    left join identities i on c.kind = 'identity' and i.issuer = c.issuer and i.subject = c.subject
  ), added as (
    insert into request_log (
      workspace_id, call_id, request_id, method, path, status, error, duration_ms, credential_kind, credential_id, created_at)
    select n.workspace_id, n.call_id, n.request_id, n.method, n.path, n.status, n.error, n.duration_ms, n.kind, n.credential_id,
      n.created_at
    from named n
    where (n.bound_to is null or n.bound_to = n.workspace_id)
      and exists (
        select from memberships m
        where m.user_id = n.user_id and m.workspace_id = n.workspace_id and m.status = 'active')
    returning workspace_id
  )
  select array_agg(distinct workspace_id) into of_workspaces from added;
  if of_workspaces is null then
    return;
  end if;
  -- Two processes that delete the same rows in different orders would wait for each other.
  perform pg_advisory_xact_lock(hashtextextended('request log', 0));
  delete from request_log r using unnest(of_workspaces) as o(workspace_id)
  where r.workspace_id = o.workspace_id and r.call_id <= (
    select l.call_id from request_log l where l.workspace_id = o.workspace_id order by l.call_id desc offset kept limit 1);
end $$;
comment on function log_requests is 'Adds calls to the log of the workspace that each was about, if its user is a member there, and keeps the last ones of each. Hashes and subjects only name the credential; they are not stored.';

do $$ begin
  execute format('alter function log_requests set search_path = %I, pg_temp', current_schema());
end $$;
