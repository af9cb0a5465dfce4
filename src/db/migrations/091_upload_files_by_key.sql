-- migration: concurrently
create index concurrently if not exists upload_files_by_name_key on upload_files (wiki_id, name_key) where status = 'done' and name_key is not null;
create index concurrently if not exists upload_files_by_title_key on upload_files (wiki_id, title_key) where status = 'done' and title_key is not null;
