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
