-- An upload can be all of a folder: what was in it and is not any more is gone, or has another name.
alter table uploads
  add column is_sync boolean not null default false,
  add column sync_root text;
comment on column uploads.is_sync is 'Whether the upload has all files of its folder, so that others of it are gone.';
comment on column uploads.sync_root is 'Of a sync that was planned: the folder that all its files lie in; "" if they lie in several, or in none.';
alter table upload_files add column renamed_from text not null default '';
comment on column upload_files.renamed_from is 'The name that the file had in an earlier upload, if its page moves with it; else "".';
