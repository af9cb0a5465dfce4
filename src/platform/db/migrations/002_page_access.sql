-- The context of the transaction and the policies decide which drafts and restricted pages a caller sees. Statements do not repeat it.
--
-- A page can be restricted together with the pages below it. The restriction has a number; each page has the number of the nearest
-- restriction, and each person has a bit for every number.

set local check_function_bodies = off;

alter table wikis add column acls integer not null default 0;
comment on column wikis.acls is 'Highest number of a restriction that the wiki ever had; 0 if no page was ever restricted.';

alter table pages add column acl_no integer not null default 0;
comment on column pages.acl_no is 'Number of the restriction that decides who sees the page: of the page itself or of the nearest page above it; 0 for none. Triggers keep it right.';

create table page_acls (
  wiki_id text collate "C" not null, -- Wiki of the page.
  acl_no integer not null, -- Number of the restriction; a wiki gives it once.
  page_id text collate "C" not null, -- Page that is restricted together with those below it.
  outer_no integer not null default 0, -- Number of the restriction around it, whose readers alone can be readers of this one; 0 for none.
  depth integer not null default 0, -- Number of restrictions around it.
  restricted_at timestamptz not null default now(), -- Time of the restriction.
  restricted_by text collate "C" not null, -- User who restricted the page; no foreign key.
  primary key (wiki_id, acl_no),
  unique (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages (wiki_id, page_id) on delete cascade
);
comment on table page_acls is 'Restrictions of pages.';
create index page_acls_inner on page_acls (wiki_id, depth) where outer_no > 0;
grant delete, insert, select on page_acls to ibid_service;
alter table page_acls enable row level security;

create table page_grants (
  wiki_id text collate "C" not null, -- Wiki of the restriction.
  acl_no integer not null, -- Restriction that the grant is part of.
  user_id text collate "C" not null references users (user_id) on delete cascade, -- Person who is admitted.
  level text collate "C" not null check (level in ('read', 'comment', 'write', 'manage')), -- What the person may do, each level including the ones before; the role in the workspace stays the ceiling.
  granted_at timestamptz not null default now(), -- Time of the grant.
  granted_by text collate "C" not null, -- User who gave it; no foreign key.
  primary key (wiki_id, acl_no, user_id),
  foreign key (wiki_id, acl_no) references page_acls (wiki_id, acl_no) on delete cascade
);
comment on table page_grants is 'People whom a restriction admits.';
create index page_grants_of_user on page_grants (user_id, wiki_id);
grant delete, insert, select, update on page_grants to ibid_service;
alter table page_grants enable row level security;

create table subject_bits (
  wiki_id text collate "C" not null references wikis (wiki_id) on delete cascade, -- Wiki of the restrictions.
  subject_id text collate "C" not null, -- User whom they admit.
  reads bit varying not null, -- A bit for each number of a restriction, from 1: whether the person reads its pages. Missing bits are 0.
  writes bit varying not null, -- The same for writing.
  primary key (wiki_id, subject_id)
);
comment on table subject_bits is 'page_grants as bits for set_request_context. Only written by the trigger of page_grants.';
alter table subject_bits enable row level security;

create function sees_drafts() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.drafts', true) = 'on'
$$;
comment on function sees_drafts is 'Whether the caller sees the drafts of own_wiki(): the role and the key give pages:write. True for jobs of the wiki.';

create function has_bit(bits bit varying, no integer) returns boolean language sql immutable parallel safe as $$
  select substring(bits from no for 1) = B'1'
$$;
comment on function has_bit is 'Whether the bit with this number, from 1, is set; missing bits are not.';

create function restricts() returns boolean language sql stable parallel safe as $$
  select current_setting('ibid.restricts', true) = 'on'
$$;
comment on function restricts is 'Whether own_wiki() has restrictions that apply to the caller. False for jobs of the wiki that act for no user.';

create function own_reads() returns bit varying language sql stable parallel safe as $$
  select current_setting('ibid.reads', true)::bit varying
$$;
comment on function own_reads is 'Restrictions of own_wiki() whose pages the caller reads, as bits.';

create function own_writes() returns bit varying language sql stable parallel safe as $$
  select current_setting('ibid.writes', true)::bit varying
$$;
comment on function own_writes is 'Restrictions of own_wiki() whose pages the caller writes, as bits.';

create function own_view() returns text language sql stable parallel safe as $$
  select case when current_setting('ibid.drafts', true) = 'on' then '-drafts' else '' end
    || case when current_setting('ibid.reads', true) <> '' then '-' || left(md5(current_setting('ibid.reads', true)), 12) else '' end
$$;
comment on function own_view is 'Names the set of pages of own_wiki() that the caller sees in one state of its tree: the same for two callers exactly if they see the same.';

create function bits_of(wiki text, who text, OUT reads bit varying, OUT writes bit varying)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  one record;
begin
  select b.reads, b.writes into reads, writes from subject_bits b where b.wiki_id = wiki and b.subject_id = who;
  -- A restriction inside another one opens only for those whom both admit. The outer one comes first.
  for one in
    select a.acl_no, a.outer_no from page_acls a where a.wiki_id = wiki and a.outer_no > 0 order by a.depth
  loop
    if not has_bit(reads, one.outer_no) then
      if one.acl_no <= length(reads) then reads := set_bit(reads, one.acl_no - 1, 0); end if;
      if one.acl_no <= length(writes) then writes := set_bit(writes, one.acl_no - 1, 0); end if;
    end if;
  end loop;
  reads := coalesce(reads, '');
  writes := coalesce(writes, '');
end $$;
comment on function bits_of is 'Restrictions of a wiki whose pages a user reads and writes, as bits by their number.';

create or replace function set_request_context(who text, hash bytea, name text, second_name text, path_workspace text, path_wiki text, invitation
  bytea, new_workspace text)
  returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  me text := '';
  bound text;
  granted text[];
  role text := '';
  highest int := 0;
  reads bit varying := '';
  writes bit varying := '';
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
        select k.wiki_id, array[k.workspace_id], case when name is null then 0 else k.acls end into wiki, workspaces, highest
        from wikis k where k.wiki_id = path_wiki;
      else
        workspaces := array[path_workspace];
      end if;
    when 'service' then
      perform set_config('ibid.service', 'on', true);
  end case;
  if path_wiki is not null and who <> 'job' then
    select k.wiki_id, array[m.workspace_id], m.role, k.acls into wiki, workspaces, role, highest
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
  if highest > 0 then
    select b.reads, b.writes into reads, writes from bits_of(wiki, case when who = 'job' then name else me end) b;
  end if;
  perform set_config('ibid.user', coalesce(me, ''), true), set_config('ibid.wiki', coalesce(wiki, ''), true),
    set_config('ibid.workspaces', coalesce(array_to_string(workspaces, ' '), ''), true),
    set_config('ibid.drafts', case
      when who = 'job' and wiki <> '' then 'on'
      when role in ('owner', 'admin', 'developer', 'member') and (granted is null or 'pages:write' = any (granted)) then 'on'
      else '' end, true),
    set_config('ibid.restricts', case when highest > 0 then 'on' else '' end, true),
    set_config('ibid.reads', coalesce(rtrim(reads::text, '0'), ''), true),
    set_config('ibid.writes', coalesce(rtrim(writes::text, '0'), ''), true);
end $$;

alter policy of_the_wiki on pages using (wiki_id = (select own_wiki()) and (status <> 'draft' or (select sees_drafts()))
  and (not (select restricts()) or acl_no = 0 or substring((select own_reads()) from acl_no for 1) = B'1'));
comment on function set_request_context is 'Sets caller and target for this transaction. It checks the credential and the memberships itself and does not rely on the guard. name: of a job, the user for whom it acts, who decides which pages it sees. invitation: hash of a link''s secret, which makes the invitation''s workspace visible; new_workspace: id of a workspace about to be created.';
create policy writers on pages as restrictive for update using (not (select restricts()) or acl_no = 0 or substring((select own_writes()) from acl_no for 1) = B'1');
create policy deleters on pages as restrictive for delete using (not (select restricts()) or acl_no = 0 or substring((select own_writes()) from acl_no for 1) = B'1');

create policy of_the_wiki on page_acls using (wiki_id = (select own_wiki()) and exists (
  select from pages p where p.wiki_id = page_acls.wiki_id and p.page_id = page_acls.page_id));
create policy of_the_wiki on page_grants using (wiki_id = (select own_wiki()) and exists (
  select from page_acls a where a.wiki_id = page_grants.wiki_id and a.acl_no = page_grants.acl_no));

-- Rows that belong to a page are visible with it. The view names the hidden pages instead of the visible ones, because a
-- statement that makes a page with its revision does not see that page yet. "offset 0" looks pages up one by one, instead of reading all.
create view hidden_pages as
  select p.wiki_id, p.page_id from pages p
  where p.wiki_id = own_wiki() and p.acl_no > 0 and substring((select own_reads()) from p.acl_no for 1) <> B'1';
comment on view hidden_pages is 'Pages of own_wiki() whose restriction does not admit the caller, for policies.';
grant select on hidden_pages to ibid_service;

alter policy of_the_wiki on page_texts using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = page_texts.wiki_id and h.page_id = page_texts.page_id offset 0)));
alter policy of_the_wiki on revisions using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = revisions.wiki_id and h.page_id = revisions.page_id offset 0)));
alter policy of_the_wiki on page_bases using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = page_bases.wiki_id and h.page_id = page_bases.page_id offset 0)));
alter policy of_the_wiki on page_links using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = page_links.wiki_id and h.page_id = page_links.from_page_id offset 0)));
alter policy of_the_wiki on page_tags using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = page_tags.wiki_id and h.page_id = page_tags.page_id offset 0)));
alter policy of_the_wiki on templates using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = templates.wiki_id and h.page_id = templates.page_id offset 0)));
alter policy of_the_wiki on attachments using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = attachments.wiki_id and h.page_id = attachments.page_id offset 0)));
alter policy of_the_wiki on page_sources using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_pages h where h.wiki_id = page_sources.wiki_id and h.page_id = page_sources.page_id offset 0)));
alter policy of_the_user on starred_pages using (wiki_id = (select own_wiki()) and user_id = (select own_user())
  and (not (select restricts()) or not exists (
    select from hidden_pages h where h.wiki_id = starred_pages.wiki_id and h.page_id = starred_pages.page_id offset 0)));

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

create function pages_not_open(wiki text)
  returns table (document_no integer, page_id text, is_trashed boolean, status text, acl_no integer)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.document_no, h.page_id, h.trashed_at is not null, h.status, h.acl_no
  from (
    select p.page_id, p.trashed_at, p.status, p.acl_no from pages p
    where p.wiki_id = wiki and (p.trashed_at is not null or p.status <> 'published')
    union all
    select p.page_id, p.trashed_at, p.status, p.acl_no from pages p
    where p.wiki_id = wiki and p.acl_no > 0 and p.trashed_at is null and p.status = 'published') h
  left join search_documents d on d.wiki_id = wiki and d.kind = 'page' and d.document_id = h.page_id
  where wiki = own_wiki()
$$;
comment on function pages_not_open is 'Pages of own_wiki() that some callers do not find, because they are in the trash, not published or restricted, with their numbers in the index (null if they are not indexed).';

create function page_facts(wiki text, numbers integer[])
  returns table (document_no integer, page_id text, created_by text, status text, folder text, acl_no integer)
  language sql stable security definer set search_path = public, pg_temp as $$
  select n.no, d.document_id, p.created_by, p.status, split_part(p.path, '/', 1), p.acl_no
  from unnest(numbers) n (no)
  cross join lateral (
    select d.document_id from search_documents d
    where d.wiki_id = wiki and d.kind = 'page' and d.document_no = n.no offset 0) d
  cross join lateral (
    select p.created_by, p.status, p.path, p.trashed_at, p.acl_no from pages p
    where p.wiki_id = wiki and p.page_id = d.document_id offset 0) p
  where wiki = own_wiki() and p.trashed_at is null
$$;
comment on function page_facts is 'Facts about pages of own_wiki() outside the trash, by document number, including hidden pages: the facts are cached for all callers, and a caller is only shown counts of visible pages.';

create function taken_paths(wiki text, paths text[]) returns setof text
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.path from unnest(paths) w (path)
  cross join lateral (
    select p.path from pages p where p.wiki_id = wiki and p.path = w.path and p.trashed_at is null offset 0) t
  where wiki = own_wiki()
$$;
comment on function taken_paths is 'The given paths that are taken by a page of own_wiki(), which may be hidden: a path belongs to one page.';

create function free_slug(wiki text, below text, slugs text[]) returns text
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  candidate text;
begin
  if wiki is distinct from own_wiki() then
    return null;
  end if;
  foreach candidate in array slugs loop
    if not exists (
      select from pages p
      where p.wiki_id = wiki and p.path = coalesce(below || '/', '') || candidate and p.trashed_at is null)
    then
      return candidate;
    end if;
  end loop;
  return null;
end $$;
comment on function free_slug is 'The first of these slugs that no page of own_wiki() has below a path (null: at the root), hidden pages included; null if all are taken.';

create function job_creator(wiki text, job text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(
    (select u.created_by from jobs j join uploads u on u.wiki_id = j.wiki_id and u.upload_id = j.upload_id
      where j.wiki_id = wiki and j.job_id = job),
    (select e.created_by from exports e where e.wiki_id = wiki and e.export_id = job),
    (select i.created_by from imports i where i.wiki_id = wiki and i.import_id = job))
$$;
comment on function job_creator is 'User who asked for a job; the job sees what this person sees. Null for a job of the service.';

create function is_closed_page(wiki text, page text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from pages p
    where p.wiki_id = wiki and p.page_id = page and p.acl_no > 0 and not has_bit((select own_writes()), p.acl_no))
$$;
comment on function is_closed_page is 'Whether the caller sees a page, but its restriction does not let them change it.';

create function unmanaged_acls(wiki text, page text, moves_out boolean) returns integer
  language sql stable security definer set search_path = public, pg_temp as $$
  with recursive top as (
    select p.page_id, p.acl_no from pages p
    where restricts() and wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page
      and (p.acl_no = 0 or has_bit((select own_reads()), p.acl_no))
  ), up as (
    select a.acl_no, a.page_id from top, page_acls a where a.wiki_id = wiki
    union all
    select u.acl_no, p.parent_page_id
    from up u cross join lateral (
      select p.parent_page_id from pages p where p.wiki_id = wiki and p.page_id = u.page_id offset 0) p
    where u.page_id <> page and p.parent_page_id is not null
  ), inside as (
    select u.acl_no from up u where u.page_id = page
    union
    select t.acl_no from top t where moves_out and t.acl_no > 0
  )
  select count(*)::int from inside i
  where not exists (
    select from page_grants g
    where g.wiki_id = wiki and g.acl_no = i.acl_no and g.user_id = own_user() and g.level = 'manage')
$$;
comment on function unmanaged_acls is 'Number of restrictions of a page and of the pages below it that the caller does not manage. moves_out: the page leaves the restriction that it belongs to.';

create or replace function recent_pages(workspace text, per_wiki integer, with_drafts boolean) returns setof pages
  language sql stable security definer set search_path = public, pg_temp as $$
  select b.* from wikis k
  cross join lateral (select case when k.acls > 0 then (bits_of(k.wiki_id, own_user())).reads end as reads offset 0) s
  cross join lateral (
    select p.* from (
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'published'
          and (s.reads is null or f.acl_no = 0 or has_bit(s.reads, f.acl_no))
        order by f.updated_at desc, f.page_id desc limit per_wiki)
      union all
      (select f.* from pages f where f.wiki_id = k.wiki_id and f.trashed_at is null and f.status = 'draft' and with_drafts
          and (s.reads is null or f.acl_no = 0 or has_bit(s.reads, f.acl_no))
        order by f.updated_at desc, f.page_id desc limit per_wiki)
    ) p order by p.updated_at desc, p.page_id desc limit per_wiki
  ) b
  where k.workspace_id = workspace and workspace = any ((select own_workspaces())::text[])
$$;

create or replace function page_title(page text) returns text language sql stable security definer set search_path = public, pg_temp as $$
  select p.title from wikis k join pages p on p.wiki_id = k.wiki_id and p.page_id = page
  where k.workspace_id = any ((select own_workspaces())::text[])
    and (p.acl_no = 0 or has_bit((bits_of(k.wiki_id, own_user())).reads, p.acl_no))
$$;

create or replace function caller_revisions(after_wiki text, after_page text, after_revision integer, writers text[])
  returns table (wiki_id text, page_id text, revision integer, path text, title text, origin text, created_at timestamptz, markdown text,
  packed bytea)
  language sql stable security definer set enable_bitmapscan = off set search_path = public, pg_temp as $$
  with found as materialized (
    select r.wiki_id, r.page_id, r.revision, r.title, r.origin, r.created_at, coalesce(r.unpacked_bytes, octet_length(r.markdown)) as bytes
    from revisions r
    where r.created_by = (select own_user()) and (r.wiki_id, r.page_id, r.revision) > (after_wiki, after_page, after_revision)
      and array_position((select caller_wikis()), r.wiki_id) is not null
    order by r.wiki_id, r.page_id, r.revision limit 200
  ), fitting as (
    -- Always include the first revision, however long it is.
    select f.*, sum(f.bytes) over (order by f.wiki_id, f.page_id, f.revision) - f.bytes as before from found f
  )
  select f.wiki_id, f.page_id, f.revision, t.path, f.title, f.origin, f.created_at, t.markdown, t.packed
  from fitting f cross join lateral (
    select case when m.is_open then p.path else '' end as path,
      case when m.may_read then r.markdown end as markdown, case when m.may_read then r.packed end as packed
    from pages p, revisions r, lateral (
      select p.acl_no = 0 or has_bit((bits_of(f.wiki_id, own_user())).reads, p.acl_no) as is_open offset 0) o, lateral (
      -- The usual rule: pages in the trash cannot be read, and drafts only by members who may write.
      select o.is_open, o.is_open and p.trashed_at is null and (p.status <> 'draft' or exists (
        select from wikis k join memberships m on m.workspace_id = k.workspace_id
        where k.wiki_id = f.wiki_id and m.user_id = own_user() and m.status = 'active' and m.role = any (writers))) as may_read
      offset 0) m
    where p.wiki_id = f.wiki_id and p.page_id = f.page_id
      and r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.revision = f.revision
    offset 0
  ) t
  where f.before < 1048576
  order by f.wiki_id, f.page_id, f.revision
$$;

-- An export has the pages that its maker saw. Where pages are restricted, it is for its maker alone.
alter policy of_the_wiki on exports using (
  wiki_id = (select own_wiki()) and (not (select restricts()) or created_by = (select own_user()) or (select own_user()) = '')
  or (select is_service()));

create function settle_acls(wiki text, top text) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with recursive below as (
    select p.page_id, p.acl_no as was, a.acl_no as own, coalesce(a.acl_no, o.acl_no, 0) as is_now, coalesce(o.acl_no, 0) as outer_no
    from pages p
    left join page_acls a on a.wiki_id = wiki and a.page_id = p.page_id
    left join pages o on o.wiki_id = wiki and o.page_id = p.parent_page_id
    where p.wiki_id = wiki and p.page_id = top
    union all
    select c.page_id, c.acl_no, a.acl_no, coalesce(a.acl_no, b.is_now), b.is_now
    from below b
    cross join lateral (
      select c.page_id, c.acl_no from pages c where c.wiki_id = wiki and c.parent_page_id = b.page_id offset 0) c
    left join page_acls a on a.wiki_id = wiki and a.page_id = c.page_id
  ), placed as (
    update page_acls a set outer_no = b.outer_no from below b
    where a.wiki_id = wiki and a.acl_no = b.own and a.outer_no <> b.outer_no
    returning 1
  )
  update pages p set acl_no = b.is_now from below b
  where p.wiki_id = wiki and p.page_id = b.page_id and p.acl_no <> b.is_now;
  -- A restriction is seldom inside of another one.
  with recursive around as (
    select a.acl_no, 0 as depth from page_acls a where a.wiki_id = wiki and a.outer_no = 0
    union all
    select a.acl_no, o.depth + 1 from around o join page_acls a on a.wiki_id = wiki and a.outer_no = o.acl_no
  )
  update page_acls a set depth = o.depth from around o
  where a.wiki_id = wiki and a.acl_no = o.acl_no and a.depth <> o.depth;
end $$;
comment on function settle_acls is 'Gives a page and the pages below it the numbers of their nearest restrictions. The caller holds the lock of the wiki.';

create function number_acl() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update wikis k set acls = k.acls + 1 where k.wiki_id = new.wiki_id returning k.acls into new.acl_no;
  return new;
end $$;
comment on function number_acl is 'Trigger function of page_acls: gives a restriction the next number of its wiki.';

create function change_acl() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed page_acls := coalesce(new, old);
begin
  perform settle_acls(changed.wiki_id, changed.page_id);
  update wikis k set tree_version = pg_current_xact_id()::text || '-' || (extract(epoch from now()) * 1000000)::bigint
  where k.wiki_id = changed.wiki_id;
  return null;
end $$;
comment on function change_acl is 'Trigger function of page_acls: numbers the pages below, and changes wikis.tree_version.';

create function inherit_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
begin
  for one in
    select n.wiki_id, n.page_id from new_rows n join wikis k on k.wiki_id = n.wiki_id and k.acls > 0
    where n.parent_page_id is not null and not exists (
      select from new_rows o where o.wiki_id = n.wiki_id and o.page_id = n.parent_page_id)
  loop
    perform settle_acls(one.wiki_id, one.page_id);
  end loop;
  return null;
end $$;
comment on function inherit_acls is 'Trigger function of pages: new pages belong to the restriction of their parents.';

create function move_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    perform settle_acls(new.wiki_id, new.page_id);
  end if;
  return null;
end $$;
comment on function move_acls is 'Trigger function of pages: a moved page belongs to the restriction of its new parent.';

create function change_bits() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into subject_bits as b (wiki_id, subject_id, reads, writes)
  select s.wiki_id, s.user_id, g.reads, g.writes
  from (select distinct c.wiki_id, c.user_id from changed c) s
  cross join lateral (
    select coalesce(string_agg(case when g.level is null then '0' else '1' end, '' order by n.no), '')::bit varying as reads,
      coalesce(string_agg(case when g.level in ('write', 'manage') then '1' else '0' end, '' order by n.no), '')::bit varying as writes
    from generate_series(1, (
      select max(g.acl_no) from page_grants g where g.wiki_id = s.wiki_id and g.user_id = s.user_id)) n (no)
    left join page_grants g on g.wiki_id = s.wiki_id and g.acl_no = n.no and g.user_id = s.user_id) g
  join wikis k on k.wiki_id = s.wiki_id
  on conflict (wiki_id, subject_id) do update set reads = excluded.reads, writes = excluded.writes;
  return null;
end $$;
comment on function change_bits is 'Trigger function of page_grants: writes the bits of the people whose grants changed.';

create function end_grants() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    update page_grants g set user_id = new.user_id from wikis k
    where k.workspace_id = old.workspace_id and g.wiki_id = k.wiki_id and g.user_id = old.user_id;
  else
    delete from page_grants g using wikis k
    where k.workspace_id = old.workspace_id and g.wiki_id = k.wiki_id and g.user_id = old.user_id;
  end if;
  return null;
end $$;
comment on function end_grants is 'Trigger function of memberships: grants end with the membership, and follow it to the account that it moves to.';

create trigger number before insert on page_acls for each row execute function number_acl();
create trigger settle after insert or delete on page_acls for each row execute function change_acl();
create trigger acls_of_new after insert on pages referencing new table as new_rows for each statement execute function inherit_acls();
create trigger acls_of_moved after update of parent_page_id, trashed_at on pages for each row when (old.parent_page_id is distinct from new.parent_page_id or old.trashed_at is not null and new.trashed_at is null) execute function move_acls();
create trigger bits_on_insert after insert on page_grants referencing new table as changed for each statement execute function change_bits();
create trigger bits_on_delete after delete on page_grants referencing old table as changed for each statement execute function change_bits();
create trigger bits_on_update after update on page_grants referencing new table as changed for each statement execute function change_bits();
create trigger bits_of_others after update on page_grants referencing old table as changed for each statement execute function change_bits();
create trigger grants_end after delete on memberships for each row execute function end_grants();
create trigger grants_follow after update of user_id on memberships for each row when (old.user_id <> new.user_id) execute function end_grants();
