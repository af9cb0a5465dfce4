-- The second wall. The guard of each statement decides who may do what; this decides, by itself and for every row, which
-- workspaces a statement can see at all, so that one that forgot its filter finds no foreign row and changes none.
-- The service works as the role ibid_service, which may read and write rows and nothing else: no DDL, no bypass.
-- Who owns the tables (migrations, the operator's commands) is not bound by the policies.

-- What was entered holds for one transaction; outside of one, and before, nothing is visible.
create function own_user() returns text language sql stable parallel safe
  as $$ select current_setting('ibid.user', true) $$;
create function own_workspaces() returns text[] language sql stable parallel safe
  as $$ select string_to_array(current_setting('ibid.workspaces', true), ' ') $$;
create function own_wiki() returns text language sql stable parallel safe
  as $$ select current_setting('ibid.wiki', true) $$;
create function is_service() returns boolean language sql stable parallel safe
  as $$ select current_setting('ibid.service', true) = 'on' $$;
comment on function own_user is 'Whose credential was entered.';
comment on function own_workspaces is 'The workspaces that may be seen: the one of the path if the caller is an active member, without a path all of theirs.';
comment on function own_wiki is 'The wiki of the path, if it is in one of own_workspaces().';
comment on function is_service is 'Statements of the service itself, which no tenant asked for: the queue, sign-in.';

create function enter(
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
    when 'nobody' then
      null;
    when 'identity' then
      select i.user_id into me from identities i where i.issuer = name and i.subject = second_name;
    when 'widget' then
      me := name;
      bound := second_name;
    when 'job' then
      select k.wiki_id, array[k.workspace_id] into wiki, workspaces from wikis k where k.wiki_id = path_wiki;
    when 'service' then
      perform set_config('ibid.service', 'on', true);
  end case;
  if path_wiki is not null and who <> 'job' then
    select k.wiki_id, array[m.workspace_id] into wiki, workspaces
    from wikis k join memberships m on m.workspace_id = k.workspace_id and m.user_id = me and m.status = 'active'
    where k.wiki_id = path_wiki and (bound is null or bound = k.workspace_id);
  elsif path_workspace is not null then
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
comment on function enter is 'Says for this transaction who asks and for what. It looks itself at the credential and the memberships, and not at what the guard of a statement found out. invitation: the hash of a link''s secret, which opens the workspace that it is for; new_workspace: the id of a workspace that is about to be made.';

create function knows_workspace(id text) returns boolean language sql stable security definer
  as $$ select exists (select from workspaces where workspace_id = id) $$;
create function knows_wiki(id text) returns boolean language sql stable security definer
  as $$ select exists (select from wikis where wiki_id = id) $$;
create function slug_is_taken(wanted text) returns boolean language sql stable security definer
  as $$ select exists (select from workspaces where slug = wanted) $$;
comment on function knows_workspace is 'For 403 and 404: whether there is such a workspace, also one that the caller cannot see.';
comment on function knows_wiki is 'For 403 and 404: whether there is such a wiki, also one that the caller cannot see.';
comment on function slug_is_taken is 'A workspace''s slug is unique over the service, so also those that the caller cannot see count.';

create function is_invited(address text) returns boolean language sql stable security definer
  as $$ select exists (select from invitations where email = address and state = 'pending' and expires_at > now()) $$;
comment on function is_invited is 'For sign-in: whether an address is invited anywhere, which nobody is told.';

-- A function that runs as its owner looks for tables where they are, and never in a schema that its caller chose.
do $$
declare
  f regprocedure;
begin
  for f in select oid from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;

do $$
declare
  t record;
begin
  execute format('grant usage on schema %I to ibid_service', current_schema());
  grant select, insert, update, delete on
    users, identities, workspaces, memberships, invitations, api_keys, idempotency_keys, wikis, pages, revisions, page_texts,
    page_links, uploads, upload_files, sources, source_texts, page_sources, jobs to ibid_service;
  -- What was done cannot be made undone: records are added and read.
  grant select, insert on audit_events, signing_keys to ibid_service;
  grant select on subscriptions, migrations to ibid_service;

  -- One wiki's: the path's.
  -- page_texts and source_texts are not among them: a policy would keep searches from their index, because the matching of
  -- text search is not leakproof. They are only ever read together with pages and sources, which are secured.
  for t in select unnest(array['pages', 'revisions', 'page_links', 'uploads', 'upload_files', 'sources', 'page_sources']) as name
  loop
    execute format('alter table %I enable row level security', t.name);
    execute format('create policy of_the_wiki on %I using (wiki_id = (select own_wiki()))', t.name);
  end loop;
  -- One workspace's: those that the caller is in.
  for t in select unnest(array['workspaces', 'invitations', 'subscriptions', 'wikis']) as name loop
    execute format('alter table %I enable row level security', t.name);
    execute format('create policy of_the_workspaces on %I using (workspace_id = any ((select own_workspaces())::text[]))', t.name);
  end loop;
end $$;

alter table jobs enable row level security;
create policy of_the_wiki on jobs using (wiki_id = (select own_wiki()) or (select is_service()));

alter table memberships enable row level security;
create policy of_the_workspaces on memberships
  using (workspace_id = any ((select own_workspaces())::text[]) or user_id = (select own_user()))
  with check (workspace_id = any ((select own_workspaces())::text[]));

alter table users enable row level security;
create policy self_and_colleagues on users
  using (user_id = (select own_user()) or (select is_service())
    or user_id in (select m.user_id from memberships m where m.workspace_id = any ((select own_workspaces())::text[])));

alter table identities enable row level security;
create policy self on identities using (user_id = (select own_user()) or (select is_service()));

alter table api_keys enable row level security;
create policy self_and_workspaces on api_keys
  using (user_id = (select own_user()) or workspace_id = any ((select own_workspaces())::text[]));

alter table audit_events enable row level security;
create policy of_the_workspaces on audit_events for select
  using (workspace_id = any ((select own_workspaces())::text[]));
create policy anybody_adds on audit_events for insert with check (true);

alter table signing_keys enable row level security;
create policy of_the_service on signing_keys using ((select is_service()));

-- Sign-in: what a user has is seen by that user's credentials; what is not anybody's yet, and what somebody is found by
-- who signs in, by the service alone.
grant select, insert, update, delete on
  sessions, refresh_tokens, passwords, sign_in_links, password_guesses, openid_attempts, welcome_links to ibid_service;

do $$
declare
  t record;
begin
  for t in select unnest(array['sessions', 'refresh_tokens', 'passwords']) as name loop
    execute format('alter table %I enable row level security', t.name);
    execute format('create policy self on %I using (user_id = (select own_user()) or (select is_service()))', t.name);
  end loop;
  for t in select unnest(array['sign_in_links', 'openid_attempts', 'welcome_links']) as name loop
    execute format('alter table %I enable row level security', t.name);
    execute format('create policy of_the_service on %I using ((select is_service()))', t.name);
  end loop;
end $$;

-- Guesses at the own password are counted too where it is changed.
alter table password_guesses enable row level security;
create policy own_address on password_guesses
  using ((select is_service()) or email in (select i.subject from identities i where i.user_id = (select own_user())));
