-- A request knows which restrictions admit its caller from before it waited for the lock of the wiki. Restrictions that others made
-- while it waited must apply to it, and the page that it restricts itself must stay visible to it.

create function renew_restrictions(wiki text, person text) returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  bits record;
begin
  if wiki is distinct from own_wiki() or own_user() not in ('', person) then
    return;
  end if;
  select b.reads, b.writes into bits from bits_of(wiki, person) b;
  perform set_config('ibid.restricts', 'on', true),
    set_config('ibid.reads', rtrim(bits.reads::text, '0'), true),
    set_config('ibid.writes', rtrim(bits.writes::text, '0'), true);
end $$;
comment on function renew_restrictions is 'Reads again which restrictions of own_wiki() admit the caller, or the person for whom a job acts, for a transaction that has waited for the lock of the wiki.';

create or replace function number_acl() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update wikis k set acls = k.acls + 1 where k.wiki_id = new.wiki_id returning k.acls into new.acl_no;
  if new.wiki_id = own_wiki() and own_user() <> '' then
    perform set_config('ibid.restricts', 'on', true),
      set_config('ibid.reads', rpad(current_setting('ibid.reads'), new.acl_no - 1, '0') || '1', true),
      set_config('ibid.writes', rpad(current_setting('ibid.writes'), new.acl_no - 1, '0') || '1', true);
  end if;
  return new;
end $$;
comment on function number_acl is 'Trigger function of page_acls: gives a restriction the next number of its wiki, and admits its author until the end of the transaction.';

-- Only the managers of a restriction may move a page out of it, because more people see the page then.

create or replace function unmanaged_acls(wiki text, page text, moves_out boolean) returns integer
  language sql stable security definer set search_path = public, pg_temp as $$
  with recursive top as (
    select p.page_id, coalesce((
      select o.acl_no from pages o where o.wiki_id = wiki and o.page_id = p.parent_page_id), 0) as outer_no
    from pages p
    where restricts() and wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page
      and (p.acl_no = 0 or has_bit((select own_reads()), p.acl_no))
  ), up as (
    select a.acl_no, a.page_id from top, page_acls a where a.wiki_id = wiki and (moves_out is not null or a.page_id <> page)
    union all
    select u.acl_no, p.parent_page_id
    from up u cross join lateral (
      select p.parent_page_id from pages p where p.wiki_id = wiki and p.page_id = u.page_id offset 0) p
    where u.page_id <> page and p.parent_page_id is not null
  ), inside as (
    select u.acl_no from up u where u.page_id = page
    union
    select t.outer_no from top t where moves_out and t.outer_no > 0
  )
  select count(*)::int from inside i
  where not exists (
    select from page_grants g
    where g.wiki_id = wiki and g.acl_no = i.acl_no and g.user_id = own_user() and g.level = 'manage')
$$;
comment on function unmanaged_acls is 'Number of restrictions of a page and of the pages below it that the caller does not manage. moves_out: the page leaves the restriction around it; null if it keeps its parent, so that its own restriction does not count.';

create function leaves_acl(wiki text, page text, new_parent text) returns boolean
  language sql stable security definer set search_path = public, pg_temp as $$
  with recursive here as (
    select o.acl_no from pages p join pages o on o.wiki_id = p.wiki_id and o.page_id = p.parent_page_id
    where wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page and o.acl_no > 0
  ), there as (
    select n.acl_no from here, pages n where n.wiki_id = wiki and n.page_id = new_parent and n.acl_no > 0
    union all
    select a.outer_no from there t join page_acls a on a.wiki_id = wiki and a.acl_no = t.acl_no where a.outer_no > 0
  )
  select case when not exists (
      select from pages p
      where wiki = own_wiki() and p.wiki_id = wiki and p.page_id = page and coalesce(p.parent_page_id, '') = coalesce(new_parent, ''))
    then exists (select from here h where h.acl_no not in (select t.acl_no from there t)) end
$$;
comment on function leaves_acl is 'Whether a page of own_wiki() leaves the restriction around it by a move to a new parent (null or empty: the root); null if that is its parent.';

-- A link to a missing page that a caller does not see, or may not change, means the page that the caller makes there, as for everybody.

create function link_closed_pages() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if restricts() and new.wiki_id = own_wiki() then
    update page_links l set to_page_id = new.page_id
    from (
      select k.from_page_id, k.to_path from page_links k where k.wiki_id = new.wiki_id and k.to_path = new.path and k.to_page_id is null
      union
      select k.from_page_id, k.to_path from page_links k
      where k.wiki_id = new.wiki_id and k.wanted_title is not null and k.wanted_path = new.path and k.to_page_id is null
      union
      select k.from_page_id, k.to_path from page_links k where k.wiki_id = new.wiki_id and k.wanted_title = new.title_key and k.to_page_id is null
    ) w join pages f on f.wiki_id = new.wiki_id and f.page_id = w.from_page_id
    where l.wiki_id = new.wiki_id and l.from_page_id = w.from_page_id and l.to_path = w.to_path
      and f.acl_no > 0 and not has_bit(own_writes(), f.acl_no);
  end if;
  return null;
end $$;
comment on function link_closed_pages is 'Trigger function of pages: resolves links of pages that the caller does not see or may not change to a page that is new at its path or has a new title.';
create trigger links_to_new after insert on pages for each row when (new.trashed_at is null) execute function link_closed_pages();
create trigger links_to_moved after update of path, title, trashed_at on pages for each row when (new.trashed_at is null and (old.path <> new.path or old.title <> new.title or old.trashed_at is not null)) execute function link_closed_pages();
