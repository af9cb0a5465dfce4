-- Statements are planned once, for any tenant, and PostgreSQL estimated what a tenant has as the average of all. With few wikis that
-- is a large part of a table, which it then read as a whole; with ten thousand it is a few rows, so that it read all that a wiki has,
-- which may be a hundred thousand. A twentieth of the table is right for no tenant, but makes it look up by keys what is looked up by
-- keys, and read by index what is read as a whole, however many tenants there are. It counts from the next analyze on.

alter table attachments alter column wiki_id set (n_distinct = 20);
alter table audit_events alter column workspace_id set (n_distinct = 20);
alter table compiled_files alter column wiki_id set (n_distinct = 20);
alter table exports alter column wiki_id set (n_distinct = 20);
alter table import_attachments alter column wiki_id set (n_distinct = 20);
alter table import_pages alter column wiki_id set (n_distinct = 20);
alter table import_revisions alter column wiki_id set (n_distinct = 20);
alter table jobs alter column wiki_id set (n_distinct = 20);
alter table page_links alter column wiki_id set (n_distinct = 20);
alter table page_paths alter column wiki_id set (n_distinct = 20);
alter table page_sources alter column wiki_id set (n_distinct = 20);
alter table page_tags alter column wiki_id set (n_distinct = 20);
alter table page_texts alter column wiki_id set (n_distinct = 20);
alter table pages alter column wiki_id set (n_distinct = 20);
alter table revisions alter column wiki_id set (n_distinct = 20);
alter table search_blocks alter column wiki_id set (n_distinct = 20);
alter table search_documents alter column wiki_id set (n_distinct = 20);
alter table search_words alter column wiki_id set (n_distinct = 20);
alter table source_texts alter column wiki_id set (n_distinct = 20);
alter table sources alter column wiki_id set (n_distinct = 20);
alter table upload_files alter column wiki_id set (n_distinct = 20);
alter table upload_parts alter column wiki_id set (n_distinct = 20);
alter table uploads alter column wiki_id set (n_distinct = 20);
