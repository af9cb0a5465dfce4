-- A document that is too long for one page becomes several: a row of its upload for each page but the first.

alter table upload_files
  drop constraint upload_files_kind_check,
  add constraint upload_files_kind_check check (kind in ('file', 'folder', 'archive', 'section')),
  add column section_of int,
  add constraint upload_files_section_check check ((kind = 'section') = (section_of is not null));
comment on column upload_files.kind is 'folder: the page of a folder that no file is the page of. archive: unpacked, its files are rows of their own. section: a page of a file that is too long for one; its name is that of the file, #, and the slugs of its headings.';
comment on column upload_files.section_of is 'Of a section: the file_no of the file that it is part of.';
create index upload_files_sections on upload_files (wiki_id, upload_id, section_of) where section_of is not null;
