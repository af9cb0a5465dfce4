-- migration: batches
-- What pages and their sources have twice. A batch finds its rows by those that are left.
with same as materialized (
  select x.wiki_id, x.page_id, c.source_id from page_texts x
  cross join lateral (
    select c.source_id from page_sources c join source_texts t on t.wiki_id = c.wiki_id and t.source_id = c.source_id
    where c.wiki_id = x.wiki_id and c.page_id = x.page_id and octet_length(t.text) = octet_length(x.text) and t.text = x.text limit 1) c
  limit 1000
), shared as (
  update pages p set text_source_id = s.source_id from same s where p.wiki_id = s.wiki_id and p.page_id = s.page_id
  returning p.wiki_id, p.page_id
)
delete from page_texts x using shared s where x.wiki_id = s.wiki_id and x.page_id = s.page_id
