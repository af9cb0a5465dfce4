-- Sources, uploads and jobs are hidden together with the restricted pages that they made.

set local check_function_bodies = off;

alter table sources add column acl_nos integer[] not null default '{}';
comment on column sources.acl_nos is 'Numbers of the restrictions of the pages that the source is for; a caller sees the source if they read all of them. settle_sources keeps it right.';
alter table sources add column copy_no integer not null default 0;
comment on column sources.copy_no is 'Tells sources with the same bytes apart: the bytes are one source for each restriction, because a caller must not notice that a hidden source has them.';
comment on table sources is 'Original documents from which pages were compiled. The same bytes are one source per wiki and restriction, however often they are uploaded.';
alter table uploads add column acl_nos integer[] not null default '{}';
comment on column uploads.acl_nos is 'Numbers of the restrictions of the pages that the upload wrote or meant to write, known once it has ended.';
alter table uploads add column started_nos integer[] not null default '{}';
comment on column uploads.started_nos is 'Numbers of the restrictions that admitted its creator when the upload was made. They count until acl_nos are known.';
alter table wikis add column sources_version integer not null default 0;
comment on column wikis.sources_version is 'Changes with every source of a restricted page that is added, removed or moved to another restriction. Caches of the hidden sources are named by it.';

create function numbers_of(bits bit varying) returns integer[] language sql immutable parallel safe as $$
  select array(select n from generate_series(1, length(bits)) n where has_bit(bits, n))
$$;
comment on function numbers_of is 'The numbers, from 1, of the bits that are set.';

alter policy of_the_wiki on sources using (wiki_id = (select own_wiki())
  and (not (select restricts()) or acl_nos = '{}' or acl_nos <@ (select numbers_of(own_reads()))));
create policy writers on sources as restrictive for update
  using (not (select restricts()) or acl_nos = '{}' or acl_nos <@ (select numbers_of(own_writes())));
create policy deleters on sources as restrictive for delete
  using (not (select restricts()) or acl_nos = '{}' or acl_nos <@ (select numbers_of(own_writes())));

create view hidden_sources as
  select s.wiki_id, s.source_id from sources s
  where s.wiki_id = own_wiki() and s.acl_nos <> '{}' and not s.acl_nos <@ (select numbers_of(own_reads()));
comment on view hidden_sources is 'Sources of own_wiki() whose restrictions do not admit the caller, for policies.';
grant select on hidden_sources to ibid_service;

alter policy of_the_wiki on source_texts using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_sources h where h.wiki_id = source_texts.wiki_id and h.source_id = source_texts.source_id offset 0)));

create function shows_upload(creator text, acl_nos integer[], is_settled boolean, is_completed boolean) returns boolean
  language sql stable parallel safe as $$
  select own_user() = '' or creator = own_user() and not is_completed
    or numbers_of(own_reads()) @> acl_nos
      and (is_settled or numbers_of(own_reads()) @> numbers_of((bits_of(own_wiki(), creator)).reads))
$$;
comment on function shows_upload is 'Whether the caller sees an upload of own_wiki(). Until it is settled, it may write whatever its creator sees, so it is for callers who see as much; its creator sees it until it is completed. Jobs see all uploads.';

alter policy of_the_wiki on uploads using (wiki_id = (select own_wiki()) and (not (select restricts()) or shows_upload(created_by,
  case when finished_at is not null and (status = 'completed' or planned_at is not null) then acl_nos else acl_nos || started_nos end,
  finished_at is not null and (status = 'completed' or planned_at is not null), status = 'completed')));

create view hidden_uploads as
  select u.wiki_id, u.upload_id
  from uploads u
  cross join lateral (
    select u.finished_at is not null and (u.status = 'completed' or u.planned_at is not null) as is_settled offset 0) s
  where u.wiki_id = own_wiki() and not shows_upload(
    u.created_by, case when s.is_settled then u.acl_nos else u.acl_nos || u.started_nos end, s.is_settled, u.status = 'completed');
comment on view hidden_uploads is 'Uploads of own_wiki() that the caller does not see, for policies.';
grant select on hidden_uploads to ibid_service;

alter policy of_the_wiki on upload_files using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
  select from hidden_uploads h where h.wiki_id = upload_files.wiki_id and h.upload_id = upload_files.upload_id offset 0)));
alter policy of_the_wiki on upload_parts using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
    select from hidden_uploads h where h.wiki_id = upload_parts.wiki_id and h.upload_id = upload_parts.upload_id offset 0))
  or (select is_service()));

alter policy of_the_wiki on imports using (
  wiki_id = (select own_wiki()) and (not (select restricts()) or created_by = (select own_user()) or (select own_user()) = '')
  or (select is_service()));

create view transfers_of_others as
  select e.wiki_id, e.export_id as job_id from exports e where e.wiki_id = own_wiki() and own_user() not in ('', e.created_by)
  union all
  select i.wiki_id, i.import_id from imports i where i.wiki_id = own_wiki() and own_user() not in ('', i.created_by);
comment on view transfers_of_others is 'Exports and imports of own_wiki() by other people, for policies.';
grant select on transfers_of_others to ibid_service;

alter policy of_the_wiki on jobs using (wiki_id = (select own_wiki()) and (not (select restricts()) or not exists (
    select from hidden_uploads h where h.wiki_id = jobs.wiki_id and h.upload_id = jobs.upload_id offset 0)
  and not exists (select from transfers_of_others o where o.wiki_id = jobs.wiki_id and o.job_id = jobs.job_id offset 0))
  or (select is_service()));

create function job_version(wiki text, job text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select concat_ws(' ', j.xmin, k.sources_version, (select sum(b.xmin::text::bigint) from subject_bits b where b.wiki_id = wiki))
  from jobs j join wikis k on k.wiki_id = j.wiki_id
  where j.wiki_id = wiki and j.job_id = job and is_service()
$$;
comment on function job_version is 'Changes whenever a job changes, or who sees the restricted pages of its wiki.';

create function is_closed_source(wiki text, source text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from sources s
    where s.wiki_id = wiki and s.source_id = source and not s.acl_nos <@ numbers_of(own_writes()))
$$;
comment on function is_closed_source is 'Whether the caller sees a source, but the restriction of its pages does not let them change it.';

create function is_closed_upload(wiki text, upload text) returns boolean language sql stable as $$
  select restricts() and exists (
    select from uploads u
    where u.wiki_id = wiki and u.upload_id = upload and u.created_by <> own_user()
      and not (u.acl_nos || case when u.finished_at is null then numbers_of((bits_of(wiki, u.created_by)).writes) else '{}' end)
        <@ numbers_of(own_writes()))
$$;
comment on function is_closed_upload is 'Whether the caller sees an upload of another person, but the restriction of its pages does not let them change it.';

create function is_closed_place(wiki text, upload text, page text, page_path text) returns boolean
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  above text := page_path;
  acl int;
  is_live boolean;
begin
  if not restricts() or wiki is distinct from own_wiki() then
    return false;
  end if;
  select p.acl_no, p.trashed_at is null into acl, is_live from pages p where p.wiki_id = wiki and p.page_id = page;
  if acl > 0 and not has_bit(own_writes(), acl) then
    return true;
  end if;
  -- The page will be made below the nearest page that exists.
  while is_live is not true and position('/' in above) > 0 loop
    above := regexp_replace(above, '/[^/]*$', '');
    select p.acl_no, true into acl, is_live from pages p
    where p.wiki_id = wiki and p.trashed_at is null and p.page_id = coalesce(
      (select f.page_id from upload_files f join pages n on n.wiki_id = f.wiki_id and n.page_id = f.page_id and n.trashed_at is null
        where f.wiki_id = wiki and f.upload_id = upload and f.page_path = above order by f.file_no limit 1),
      (select n.page_id from pages n where n.wiki_id = wiki and n.path = above and n.trashed_at is null));
  end loop;
  return coalesce(is_live and acl > 0 and not has_bit(own_writes(), acl), false);
end $$;
comment on function is_closed_place is 'Whether a restriction keeps the caller from writing a planned page of an upload: the page itself, or the nearest page above, is hidden or may only be read.';

create function hidden_link_target(wiki text, wanted_path text, wanted_title text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(
    (select p.page_id from pages p where p.wiki_id = wiki and p.path = wanted_path and p.trashed_at is null),
    (select p.page_id from pages p where p.wiki_id = wiki and p.title_key = wanted_title and p.trashed_at is null
      order by length(p.path), p.page_id limit 1))
  where restricts() and wiki = own_wiki()
$$;
comment on function hidden_link_target is 'The page of own_wiki() at a path, or with a title_key, also if the writer of the link does not see it: it is stored for readers who do. Whoever does not see the page is shown a link to a missing page.';

create function page_count(wiki text) returns integer
  language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::int from pages p where p.wiki_id = wiki and p.trashed_at is null and wiki = own_wiki()
$$;
comment on function page_count is 'Number of pages of own_wiki() outside the trash, hidden pages included.';

create function next_copy(wiki text, bytes text) returns integer
  language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(max(s.copy_no) + 1, 0) from sources s where s.wiki_id = wiki and s.sha256 = bytes and wiki = own_wiki()
$$;
comment on function next_copy is 'copy_no for a further source of own_wiki() with these bytes, hidden sources included.';

create function sources_not_open(wiki text) returns table (document_no integer, source_id text, acl_nos integer[])
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.document_no, s.source_id, s.acl_nos
  from sources s
  left join search_documents d on d.wiki_id = wiki and d.kind = 'source' and d.document_id = s.source_id
  where s.wiki_id = wiki and s.acl_nos <> '{}' and wiki = own_wiki()
$$;
comment on function sources_not_open is 'Sources of own_wiki() that some callers do not see, with their numbers in the index (null if they are not indexed).';

create function note_source_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from changed c where c.acl_nos <> '{}') then
    update wikis k set sources_version = k.sources_version + 1
    where k.wiki_id in (select c.wiki_id from changed c where c.acl_nos <> '{}');
  end if;
  return null;
end $$;
comment on function note_source_acls is 'Trigger function of sources: changes wikis.sources_version.';
create trigger acls_of_new after insert on sources referencing new table as changed for each statement execute function note_source_acls();
create trigger acls_of_removed after delete on sources referencing old table as changed for each statement execute function note_source_acls();

create function note_started_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.started_nos := numbers_of((bits_of(new.wiki_id, new.created_by)).reads);
  end if;
  return new;
end $$;
comment on function note_started_acls is 'Trigger function of uploads: notes the restrictions that admit the creator.';
create trigger started before insert on uploads for each row execute function note_started_acls();

create function note_upload_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    new.acl_nos := array(
      select distinct n.acl_no from (
        select p.acl_no from upload_files f join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id
        union
        -- For a page that was never written, the pages above decide.
        select k.acl_no from upload_files f
        join page_acls k on k.wiki_id = f.wiki_id
        join pages p on p.wiki_id = k.wiki_id and p.page_id = k.page_id and p.trashed_at is null
          and (p.path = f.page_path or starts_with(f.page_path, p.path || '/'))
        where f.wiki_id = new.wiki_id and f.upload_id = new.upload_id and f.page_path <> '' and not exists (
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
comment on function note_upload_acls is 'Trigger function of uploads: notes the restrictions of its pages when an upload ends.';
create trigger acls before update of finished_at on uploads for each row when (new.finished_at is not null and old.finished_at is null) execute function note_upload_acls();

create function settle_sources(wiki text, changed text[]) returns void
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
comment on function settle_sources is 'Gives uploads and sources the restrictions of their pages, some of which have changed. The same bytes for two restrictions become two sources. The caller holds the lock of the wiki.';

create function copy_source(wiki text, original text, acl integer) returns text
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  -- It starts like the id of the original, so both are neighbours in lists.
  made text := left(original, -12) || translate(substr(md5(random()::text || clock_timestamp()::text), 1, 12), 'abcdef', 'vwxyz0');
begin
  insert into sources (wiki_id, source_id, upload_id, title, filename, content_type, byte_size, sha256, language, created_at, updated_at,
    losses, loss_count, losses_to_review, file_characters, extractor_version, acl_nos, copy_no)
  select s.wiki_id, made, s.upload_id, s.title, s.filename, s.content_type, s.byte_size, s.sha256, s.language, s.created_at, s.updated_at,
    s.losses, s.loss_count, s.losses_to_review, s.file_characters, s.extractor_version, array_remove(array[acl], 0),
    (select max(o.copy_no) + 1 from sources o where o.wiki_id = wiki and o.sha256 = s.sha256)
  from sources s where s.wiki_id = wiki and s.source_id = original;
  insert into source_texts (wiki_id, source_id, text)
  select wiki, made, t.text from source_texts t where t.wiki_id = wiki and t.source_id = original;
  insert into search_pending (wiki_id, kind, document_id, version) values (wiki, 'source', made, 1);
  update page_sources c set source_id = made from pages p
  where c.wiki_id = wiki and c.source_id = original and p.wiki_id = wiki and p.page_id = c.page_id and p.acl_no = acl;
  update upload_files f set source_id = made from pages p
  where f.wiki_id = wiki and f.source_id = original and p.wiki_id = wiki and p.page_id = f.page_id and p.acl_no = acl;
  return made;
end $$;
comment on function copy_source is 'Makes a copy of a source for its pages of one restriction (0: of none), and returns its id.';

create function name_source(wiki text, source text, acl integer) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update sources s set acl_nos = array_remove(array[acl], 0), filename = n.filename, upload_id = n.upload_id,
    title = coalesce((
      select r.title from revisions r
      where r.wiki_id = wiki and r.page_id = n.page_id and r.origin = 'compiled' order by r.revision limit 1), s.title)
  from (
    select f.filename, f.upload_id, f.page_id from upload_files f join pages p on p.wiki_id = wiki and p.page_id = f.page_id
    where f.wiki_id = wiki and f.source_id = source and p.acl_no = acl
    order by f.upload_id, f.file_no limit 1) n
  where s.wiki_id = wiki and s.source_id = source
$$;
comment on function name_source is 'Gives a source the names of the first file of its pages of one restriction (0: of none), so that the names of hidden pages stay hidden.';

drop function settle_acls(text, text);
create function settle_acls(wiki text, top text) returns text[]
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
comment on function settle_acls is 'Gives a page and the pages below it the numbers of their nearest restrictions, and returns the ids of the pages with a new number. The caller holds the lock of the wiki.';

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
comment on function change_acl is 'Trigger function of page_acls: numbers the pages below and their sources, and changes wikis.tree_version.';

create or replace function move_acls() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed text[];
begin
  if exists (select from wikis k where k.wiki_id = new.wiki_id and k.acls > 0) then
    changed := settle_acls(new.wiki_id, new.page_id);
    if changed <> '{}' then
      perform settle_sources(new.wiki_id, changed);
    end if;
  end if;
  return null;
end $$;
comment on function move_acls is 'Trigger function of pages: a moved page belongs to the restriction of its new parent, and its sources with it.';

-- No caller could see the sources of a restriction after its page is gone.
create function remove_orphaned_sources() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from sources s using (select distinct o.wiki_id, o.acl_no from old_rows o where o.acl_no > 0) g
  where s.wiki_id = g.wiki_id and s.acl_nos @> array[g.acl_no]
    and not exists (select from page_acls a where a.wiki_id = g.wiki_id and a.acl_no = g.acl_no)
    and not exists (select from page_sources c where c.wiki_id = s.wiki_id and c.source_id = s.source_id);
  return null;
end $$;
comment on function remove_orphaned_sources is 'Trigger function of pages: deletes the sources of a restriction that ended with its page.';
create trigger sources_of_removed after delete on pages referencing old table as old_rows for each statement execute function remove_orphaned_sources();

create or replace function caller_uploads(after_wiki text, after_id text)
  returns table (wiki_id text, upload_id text, status text, summary text, created_at timestamptz, files json)
  language sql stable security definer set enable_bitmapscan = off set search_path = public, pg_temp as $$
  -- The summary has names of pages.
  select u.wiki_id, u.upload_id, u.status,
    case when u.acl_nos <@ numbers_of((bits_of(u.wiki_id, own_user())).reads) then u.summary else '' end, u.created_at, (
    select coalesce(json_agg(json_build_object(
      'filename', f.filename, 'content_type', f.content_type, 'byte_size', f.byte_size, 'status', f.status) order by f.file_no), '[]')
    from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind = 'file')
  from uploads u
  where u.created_by = (select own_user()) and (u.wiki_id, u.upload_id) > (after_wiki, after_id)
    and array_position((select caller_wikis()), u.wiki_id) is not null
  order by u.wiki_id, u.upload_id limit 10
$$;

-- The pages that are already restricted.
do $$
declare
  wiki text;
begin
  for wiki in select k.wiki_id from wikis k where k.acls > 0 loop
    perform settle_sources(wiki, array(select p.page_id from pages p where p.wiki_id = wiki and p.acl_no > 0));
  end loop;
end $$;
