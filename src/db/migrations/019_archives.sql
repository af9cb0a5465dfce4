-- Archives: a row of an upload that stands for the files that were in it.

alter table upload_files drop constraint upload_files_kind_check,
  add constraint upload_files_kind_check check (kind in ('file', 'folder', 'archive'));
comment on column upload_files.kind is 'folder: the page of a folder that no file is the page of. archive: unpacked, its files are rows of their own.';
