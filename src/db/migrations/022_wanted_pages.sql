-- A page that is named before it exists is found when it comes: [[Setup]] in other pages then leads to it.

-- A column, because under row-level security no lower(title) may be the key of a look into an index.
alter table pages add column title_key text collate "C" generated always as (lower(title)) stored;
comment on column pages.title_key is 'The title as wiki links are compared with it.';
drop index pages_by_title;
create index pages_by_title on pages (wiki_id, title_key) where trashed_at is null;

alter table page_links
  add column wanted_title text collate "C",
  add column wanted_path text collate "C",
  add check ((wanted_title is null) = (wanted_path is null));
comment on column page_links.wanted_title is 'Of a [[link]] that led nowhere when it was written: what a page may be called that it means. to_path is then no path, but the link as it was written.';
comment on column page_links.wanted_path is 'Of such a link: where a page may be that it means.';
create index page_links_wanted_title on page_links (wiki_id, wanted_title) where wanted_title is not null;
create index page_links_wanted_path on page_links (wiki_id, wanted_path) where wanted_title is not null;
