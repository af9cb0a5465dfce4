-- migration: concurrently
-- The list of links that lead to nothing, which are few of all.
create index concurrently if not exists page_links_without_a_page on page_links (wiki_id, from_page_id, to_path)
  where to_page_id is null;
