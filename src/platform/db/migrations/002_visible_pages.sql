-- works with: 001_baseline.sql
-- The context of the transaction and the policy of pages decide which pages a caller sees. Statements do not repeat it.

set local check_function_bodies = off;

create function sees_drafts() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.drafts', true) = 'on'
$$;
comment on function sees_drafts is 'Whether the caller sees the drafts of own_wiki(): the role and the key give pages:write. True for jobs of the wiki.';

create or replace function set_request_context(who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text, invitation
  bytea, new_workspace text)
  returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  me text := '';
  bound text;
  granted text[];
  role text := '';
  wiki text := '';
  workspaces text[] := '{}';
begin
  case who
    when 'key' then
      select k.user_id, k.workspace_id, k.permissions into me, bound, granted from api_keys k
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
    select k.wiki_id, array[m.workspace_id], m.role into wiki, workspaces, role
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
    set_config('ibid.workspaces', coalesce(array_to_string(workspaces, ' '), ''), true),
    set_config('ibid.drafts', case
      when who = 'job' and wiki <> '' then 'on'
      when role in ('owner', 'admin', 'developer', 'member') and (granted is null or 'pages:write' = any (granted)) then 'on'
      else '' end, true);
end $$;

alter policy of_the_wiki on pages using (wiki_id = (select own_wiki()) and (status <> 'draft' or (select sees_drafts())));

create function ancestors(wiki text, page text) returns table (page_id text)
  language plpgsql stable rows 5 security definer set search_path = public, pg_temp as $$
declare
  step text := page;
begin
  if wiki is distinct from own_wiki() then
    return;
  end if;
  loop
    select p.parent_page_id into step from pages p where p.wiki_id = wiki and p.page_id = step and p.trashed_at is null;
    exit when step is null;
    page_id := step;
    return next;
  end loop;
end $$;
comment on function ancestors is 'Ids of the pages above a page of own_wiki(), nearest first, including drafts that the caller does not see: published pages below them are listed.';

create function page_facts(wiki text, numbers integer[])
  returns table (document_no integer, page_id text, created_by text, status text, folder text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select n.no, d.document_id, p.created_by, p.status, split_part(p.path, '/', 1)
  from unnest(numbers) n (no)
  cross join lateral (
    select d.document_id from search_documents d
    where d.wiki_id = wiki and d.kind = 'page' and d.document_no = n.no offset 0) d
  cross join lateral (
    select p.created_by, p.status, p.path, p.trashed_at from pages p
    where p.wiki_id = wiki and p.page_id = d.document_id offset 0) p
  where wiki = own_wiki() and p.trashed_at is null
$$;
comment on function page_facts is 'Facts about pages of own_wiki() outside the trash, by document number, including drafts: the facts are cached for all callers, and a caller is only shown counts of visible pages.';

create function pages_not_published(wiki text) returns table (document_no integer, page_id text, is_trashed boolean, status text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.document_no, p.page_id, p.trashed_at is not null, p.status
  from pages p left join search_documents d on d.wiki_id = wiki and d.kind = 'page' and d.document_id = p.page_id
  where wiki = own_wiki() and p.wiki_id = wiki and (p.trashed_at is not null or p.status <> 'published')
$$;
comment on function pages_not_published is 'Pages of own_wiki() that are in the trash or not published, with their numbers in the index, to leave them out of a ranking. Null for a page that is not indexed.';
