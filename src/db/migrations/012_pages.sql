-- Pages that people write, move and throw away.

alter table pages
  drop constraint pages_wiki_id_path_key,
  drop constraint pages_wiki_id_parent_page_id_fkey,
  add column parent_path text collate "C",
  add column trashed_at timestamptz,
  add column trashed_by text collate "C",
  add column trashed_with text collate "C";

update pages set parent_path = left(path, length(path) - length(slug) - 1) where parent_page_id is not null;

-- A page's path is its parent's and its own slug, so it is longer than its parent's: no page can lie under itself,
-- whoever moves what at the same time.
alter table pages
  add constraint pages_path check (path = coalesce(parent_path || '/', '') || slug),
  add constraint pages_path_length check (length(path) <= 1024),
  add constraint pages_parent check ((parent_page_id is null) = (parent_path is null)),
  add constraint pages_trashed check ((trashed_at is null) = (trashed_with is null)),
  add constraint pages_place unique (wiki_id, page_id, path),
  add constraint pages_parent_place foreign key (wiki_id, parent_page_id, parent_path)
    references pages (wiki_id, page_id, path) deferrable initially deferred;
create unique index pages_live_path on pages (wiki_id, path) where trashed_at is null;
-- What searches leave out is looked up once for each of them.
create index pages_hidden on pages (wiki_id, page_id) where trashed_at is not null or status <> 'published';
create index pages_trashed_at on pages (trashed_at) where trashed_at is not null;
-- Wiki links name pages by their titles.
create index pages_by_title on pages (wiki_id, lower(title)) where trashed_at is null;
drop index pages_by_parent;
create index pages_by_parent on pages (wiki_id, parent_page_id, position);
comment on column pages.trashed_with is 'The page that was thrown away: itself, or the one above whose subtree it was part of.';
comment on constraint pages_place on pages is 'For the key of children, which makes paths follow and cycles impossible.';

alter table revisions
  add column origin text collate "C" not null default 'compiled' check (origin in ('authored', 'compiled')),
  add column folder text collate "C" not null default '';
alter table revisions alter column origin set default 'authored';
update revisions r set folder = coalesce(p.parent_path, '') from pages p
where p.wiki_id = r.wiki_id and p.page_id = r.page_id and p.parent_path is not null;
comment on column revisions.origin is 'Whether a person wrote this state or an upload made it.';
comment on column revisions.folder is 'The path of the page''s parent when this was written: where its relative addresses start from.';

create table page_paths (
  wiki_id  text collate "C" not null references wikis on delete cascade,
  path     text collate "C" not null,
  page_id  text collate "C" not null,
  moved_at timestamptz not null default now(),
  primary key (wiki_id, path),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table page_paths is 'Where pages were before: an old path leads to its page for as long as no other page is there.';
create index page_paths_by_page on page_paths (wiki_id, page_id);
grant select, insert, update, delete on page_paths to ibid_service;
alter table page_paths enable row level security;
create policy of_the_wiki on page_paths using (wiki_id = (select own_wiki()));

alter table page_links
  drop constraint page_links_pkey,
  alter column to_page_id drop not null,
  add column to_path text collate "C",
  add column places int[] not null default '{}';
update page_links l set to_path = p.path from pages p where p.wiki_id = l.wiki_id and p.page_id = l.to_page_id;
delete from page_links where to_path is null;
alter table page_links alter column to_path set not null, add primary key (wiki_id, from_page_id, to_path);
create index page_links_wanted on page_links (wiki_id, to_path);
comment on table page_links is 'Which page links where. to_page_id is the page that was meant; null while nothing is there.';
comment on column page_links.to_path is 'The path that is linked to, as it was when the text was written.';
comment on column page_links.places is 'Where its addresses stand in the Markdown: beginnings and ends, in UTF-16 units.';

alter table upload_files drop constraint upload_files_page_change_check,
  add constraint upload_files_page_change_check check (page_change in ('', 'new', 'updated', 'same', 'kept'));
comment on column upload_files.page_change is 'kept: a person has edited the page, so the upload left it as it was and marked it as stale.';

create function wikis_with_old_trash(age interval) returns setof text language sql stable security definer
  as $$ select distinct wiki_id from pages where trashed_at < now() - age limit 100 $$;
comment on function wikis_with_old_trash is 'For the service''s own housekeeping, which belongs to no wiki.';
do $$ begin
  execute format('alter function wikis_with_old_trash set search_path = %I, pg_temp', current_schema());
end $$;
