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

-- The name of a file tells its place. Until the places are known, an upload is for those who see what its creator saw at the start.

alter table uploads add column started_nos integer[] not null default '{}';
comment on column uploads.started_nos is 'Numbers of the restrictions that admitted its creator when the upload was made. They count until acl_nos are known.';

create function note_started_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.started_nos := numbers_of((bits_of(new.wiki_id, new.created_by)).reads);
  end if;
  return new;
end $$;
comment on function note_started_acls is 'Trigger function of uploads: notes the restrictions that admit the creator.';
create trigger started before insert on uploads for each row execute function note_started_acls();

create or replace function shows_upload(creator text, acl_nos integer[], is_settled boolean, is_completed boolean) returns boolean
  language sql stable parallel safe as $$
  select own_user() = '' or creator = own_user() and not is_completed
    or numbers_of(own_reads()) @> acl_nos
      and (is_settled or numbers_of(own_reads()) @> numbers_of((bits_of(own_wiki(), creator)).reads))
$$;

alter policy of_the_wiki on uploads using (wiki_id = (select own_wiki()) and (not (select restricts()) or shows_upload(created_by,
  case when finished_at is not null and (status = 'completed' or planned_at is not null) then acl_nos else acl_nos || started_nos end,
  finished_at is not null and (status = 'completed' or planned_at is not null), status = 'completed')));

create or replace view hidden_uploads as
  select u.wiki_id, u.upload_id
  from uploads u
  cross join lateral (
    select u.finished_at is not null and (u.status = 'completed' or u.planned_at is not null) as is_settled offset 0) s
  where u.wiki_id = own_wiki() and not shows_upload(
    u.created_by, case when s.is_settled then u.acl_nos else u.acl_nos || u.started_nos end, s.is_settled, u.status = 'completed');

create or replace function is_closed_upload(wiki text, upload text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from uploads u
    where u.wiki_id = wiki and u.upload_id = upload and u.created_by <> own_user()
      and not (u.acl_nos || case when u.finished_at is null then numbers_of((bits_of(wiki, u.created_by)).writes) else '{}' end)
        <@ numbers_of(own_writes()))
$$;

create or replace function note_upload_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.acl_nos := array(
      select distinct n.acl_no from (
        select p.acl_no from upload_files f join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id
        union
        -- For a page that was never written, the pages above decide.
        select p.acl_no from upload_files f join pages p on p.wiki_id = f.wiki_id and p.trashed_at is null
          and (p.path = f.page_path or starts_with(f.page_path, p.path || '/'))
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id and f.page_path <> '' and p.acl_no > 0 and not exists (
          select from pages w where w.wiki_id = f.wiki_id and w.page_id = f.page_id)
        union
        -- The place of a file that became no page is known from other files of its folder.
        select unnest(new.started_nos) where exists (
          select from (
            select regexp_replace(f.filename, '[^/]*$', '') as folder from upload_files f
            where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id and f.kind = 'file' and f.status <> 'done' and f.page_path = '') u
          where u.folder <> '' and not exists (
            select from upload_files o join pages p on p.wiki_id = o.wiki_id and p.page_id = o.page_id
            where o.wiki_id = new.wiki_id and o.upload_id = new.upload_id and starts_with(o.filename, u.folder)))
        union
        select unnest(new.acl_nos)) n
      where n.acl_no > 0 order by n.acl_no);
  end if;
  return new;
end $$;

create or replace function change_acl() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  subject page_acls := coalesce(new, old);
  changed text[];
begin
  -- Nothing is below a page that is deleted for good, and no caller has seen it.
  if tg_op = 'DELETE' and not exists (select from pages p where p.wiki_id = old.wiki_id and p.page_id = old.page_id) then
    return null;
  end if;
  changed := settle_acls(subject.wiki_id, subject.page_id);
  if tg_op = 'DELETE' then
    -- The restriction was lifted. Sources without a page go to the restriction around it.
    update sources s set acl_nos = array_remove(array_replace(s.acl_nos, old.acl_no, old.outer_no), 0)
    where s.wiki_id = old.wiki_id and s.acl_nos @> array[old.acl_no];
    update uploads u set acl_nos = array_remove(array_replace(u.acl_nos, old.acl_no, old.outer_no), 0),
      started_nos = array_remove(array_replace(u.started_nos, old.acl_no, old.outer_no), 0)
    where u.wiki_id = old.wiki_id and (u.acl_nos @> array[old.acl_no] or u.started_nos @> array[old.acl_no]);
  end if;
  if changed <> '{}' then
    perform settle_sources(subject.wiki_id, changed);
  end if;
  update wikis k set sources_version = k.sources_version + 1,
    tree_version = pg_current_xact_id()::text || '-' || (extract(epoch from now()) * 1000000)::bigint
  where k.wiki_id = subject.wiki_id;
  return null;
end $$;

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

-- Moves, new pages and restored pages seldom change who sees them, and a wiki can have thousands of restrictions.

create or replace function settle_acls(wiki text, top text) returns text[]
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed text[];
  is_placed boolean;
begin
  -- Where the page has the right number, those below have theirs.
  if exists (
    select from pages p
    left join page_acls a on a.wiki_id = wiki and a.page_id = p.page_id
    left join pages o on o.wiki_id = wiki and o.page_id = p.parent_page_id
    where p.wiki_id = wiki and p.page_id = top and p.acl_no = coalesce(a.acl_no, o.acl_no, 0)
      and (a.acl_no is null or a.outer_no = coalesce(o.acl_no, 0)))
  then
    return '{}';
  end if;
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
  ), numbered as (
    update pages p set acl_no = b.is_now from below b
    where p.wiki_id = wiki and p.page_id = b.page_id and p.acl_no <> b.is_now
    returning p.page_id
  )
  select (select array_agg(n.page_id) from numbered n), exists (select from placed) into changed, is_placed;
  -- A restriction is seldom inside of another one.
  if is_placed then
    with recursive around as (
      select a.acl_no, 0 as depth from page_acls a where a.wiki_id = wiki and a.outer_no = 0
      union all
      select a.acl_no, o.depth + 1 from around o join page_acls a on a.wiki_id = wiki and a.outer_no = o.acl_no
    )
    update page_acls a set depth = o.depth from around o
    where a.wiki_id = wiki and a.acl_no = o.acl_no and a.depth <> o.depth;
  end if;
  return coalesce(changed, '{}');
end $$;

-- The pages that cite a source give it its name.

create or replace function settle_sources(wiki text, changed text[]) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
  part record;
  copied text;
begin
  update uploads u set acl_nos = array(select distinct n from unnest(u.acl_nos || f.nos) n order by n)
  from (
    select f.upload_id, array_agg(distinct p.acl_no) as nos
    from pages p join upload_files f on f.wiki_id = wiki and f.page_id = p.page_id
    where p.wiki_id = wiki and p.page_id = any (changed) and p.acl_no > 0
    group by f.upload_id) f
  where u.wiki_id = wiki and u.upload_id = f.upload_id and not u.acl_nos @> f.nos;
  for one in
    with files as materialized (
      select distinct f.source_id, f.page_id, f.kind = 'section' as is_section from upload_files f
      where f.wiki_id = wiki and f.source_id is not null and f.page_id is not null
    ), touched as (
      select c.source_id from page_sources c where c.wiki_id = wiki and c.page_id = any (changed)
      union
      select f.source_id from files f where f.page_id = any (changed)
    ), homes as (
      select t.source_id, p.acl_no, true as is_cited, false as is_section
      from touched t join page_sources c on c.wiki_id = wiki and c.source_id = t.source_id
      join pages p on p.wiki_id = wiki and p.page_id = c.page_id
      union
      select t.source_id, p.acl_no, false, f.is_section
      from touched t join files f on f.source_id = t.source_id
      join pages p on p.wiki_id = wiki and p.page_id = f.page_id
    ), settled as (
      select h.source_id, array_agg(distinct h.acl_no) filter (where h.is_cited) as cited,
        coalesce(array_agg(distinct h.acl_no) filter (where h.acl_no > 0), '{}') as all_nos,
        bool_or(h.is_section) as has_sections
      from homes h group by h.source_id
    )
    select s.source_id, s.acl_nos, t.cited, t.all_nos, t.has_sections,
      -- Pages of one divided file share a source; otherwise each restriction has its own.
      not t.has_sections and coalesce(cardinality(t.cited), 0) > 1 as is_shared,
      case when t.has_sections or t.cited is null then t.all_nos else array_remove(t.cited, 0) end as nos
    from settled t join sources s on s.wiki_id = wiki and s.source_id = t.source_id
  loop
    if not one.is_shared then
      update sources s set acl_nos = one.nos where s.wiki_id = wiki and s.source_id = one.source_id and s.acl_nos <> one.nos;
      -- A page of another restriction had the file before, and the source may have the name of it.
      if one.cited is not null and not one.has_sections and one.all_nos <> one.nos then
        perform name_source(wiki, one.source_id, coalesce(one.nos[1], 0));
      end if;
      continue;
    end if;
    -- The pages that were there keep the source; each other restriction gets a copy with the name of its own file.
    for part in
      select n as acl_no, row_number() over (order by array_remove(array[n], 0) = one.acl_nos desc, n) = 1 as is_first
      from unnest(one.cited) n order by is_first
    loop
      copied := case when part.is_first then one.source_id else copy_source(wiki, one.source_id, part.acl_no) end;
      perform name_source(wiki, copied, part.acl_no);
    end loop;
  end loop;
  update wikis k set sources_version = k.sources_version + 1 where k.wiki_id = wiki;
end $$;
