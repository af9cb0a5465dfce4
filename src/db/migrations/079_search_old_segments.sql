-- migration: batches
-- What is in search_postings is read as a segment, until the wiki is indexed again.
insert into search_segments (wiki_id, kind, segment_id, documents, bytes)
select w.wiki_id, w.kind, 0, w.documents, 0 from search_wikis w
where w.next_no > 0 and not exists (
  select from search_segments s where s.wiki_id = w.wiki_id and s.kind = w.kind)
limit 1000;
