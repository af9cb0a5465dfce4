-- migration: concurrently
-- The list of sources whose text does not have everything of their file, which are few of all.
create index concurrently if not exists sources_with_losses on sources (wiki_id, source_id) where loss_count > 0;
