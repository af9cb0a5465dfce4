-- migration: concurrently
create index concurrently if not exists pages_restricted on pages (wiki_id, page_id) where acl_no > 0;
