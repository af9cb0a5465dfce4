-- Where an upload puts what: every batch of its files looks for the pages that they lie under and link to, also among ten thousand.

create index upload_files_by_path on upload_files (wiki_id, upload_id, page_path, file_no) where page_path <> '';
