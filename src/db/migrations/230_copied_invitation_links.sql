-- works with: 210_wikis_to_index.sql
-- The inviter can copy a link beside the one in the mail. It has a secret of its own: the secret in the mail proves that its
-- holder reads the mail of the address, and signs in a person who has no account yet; the copied one proves nothing.
alter table invitations add column copied_hash bytea, add column copies integer not null default 0;
comment on column invitations.copied_hash is 'The SHA-256 of the secret of the link that a member copied last; null until somebody does. It opens the invitation, and proves no address.';
comment on column invitations.copies is 'How often a member asked for a link to copy; each ends the one before.';

create or replace function set_request_context(who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text, invitation bytea, new_workspace text)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
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
      workspaces := workspaces || array(select i.workspace_id from invitations i where i.secret_hash = invitation or i.copied_hash = invitation);
    end if;
    if new_workspace is not null and not exists (select from workspaces w where w.workspace_id = new_workspace) then
      workspaces := workspaces || new_workspace;
    end if;
  end if;
  perform set_config('ibid.user', coalesce(me, ''), true), set_config('ibid.wiki', coalesce(wiki, ''), true),
    set_config('ibid.workspaces', coalesce(array_to_string(workspaces, ' '), ''), true);
end $$;

create or replace function workspace_of_invitation(secret bytea) returns setof text
language sql stable security definer set search_path = public, pg_temp as $$
  select i.workspace_id from invitations i where i.secret_hash = secret or i.copied_hash = secret
$$;

create function mailed_invitation(secret bytea) returns table (email text, has_account boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.email, exists (select from users u where u.email = i.email and u.email_verified)
    or exists (select from identities d where d.issuer = 'ibid' and d.subject = i.email)
  from invitations i where i.secret_hash = secret and i.state = 'pending' and i.expires_at > now()
$$;
comment on function mailed_invitation(bytea) is 'The address that the holder of the secret in the message of a pending invitation reads the mail of, and whether a user has it. No row for a copied link.';
