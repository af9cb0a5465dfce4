-- Whether a page is a part of a document, whose title means something there alone.
create index upload_files_pages_of_sections on upload_files (wiki_id, page_id) where section_of is not null;
