-- migration: batches
-- works with: any
-- Aliases, front matter, initials and pairs of stop words are found: each wiki is indexed again by a job, while searches go on.
update search_wikis set is_stale = true
where (wiki_id, kind) in (select wiki_id, kind from search_wikis where not is_stale limit 1000);
