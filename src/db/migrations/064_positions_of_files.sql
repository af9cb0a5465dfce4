-- Chapters are in the order that people read them in, however the browser or the archive listed the files.

alter table upload_files add column position integer;
comment on column upload_files.position is 'The position that a new page of the file gets; null: its file_no, as for the sections of a document.';
