-- The second wall around sign-in. What a user has is seen by that user's credentials; what is not anybody's yet, and what
-- somebody is found by who signs in, by the service alone.

create or replace function enter(
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

create function is_invited(address text) returns boolean language sql stable security definer
  as $$ select exists (select from invitations where email = address and state = 'pending' and expires_at > now()) $$;
comment on function is_invited is 'For sign-in: whether an address is invited anywhere, which nobody is told.';

do $$
declare
  f text;
begin
  -- Replaced and new functions look for tables where they are, as all that run as their owner.
  foreach f in array array['enter(text, bytea, text, text, text, text, bytea, text)', 'is_invited(text)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;

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
