-- Until a table was analyzed for the first time the planner takes it for empty; of several indexes that seem to cost the same it
-- then takes the newest one. For an import into a new database that was the one of titles, by which the check of each reference
-- to a page read all pages of the wiki. So the index that finds a page at once is made last.
drop index pages_by_parent;
create index pages_by_parent on pages (wiki_id, parent_page_id, position, page_id);
drop index pages_live_path;
create unique index pages_live_path on pages (wiki_id, path) where trashed_at is null;
drop index pages_by_id;
create index pages_by_id on pages (page_id);
