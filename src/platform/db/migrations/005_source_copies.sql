-- migration: concurrently
create unique index concurrently if not exists sources_copies on sources (wiki_id, sha256, copy_no);
create index concurrently if not exists sources_restricted on sources (wiki_id, source_id) where acl_nos <> '{}';
