-- What links and texts call the files of earlier uploads, so that those of a wiki are looked up and not all read.
alter table upload_files add column name_key text collate "C";
alter table upload_files add column title_key text collate "C";
comment on table upload_files is 'Each file of an upload and what became of it; a worker that takes over goes on with the pending ones. page_path and page_id are decided once, before the first file is read. A row of kind folder is the page of a folder that no file is the page of. name_key, title_key: the name in lower case, and without folders and extension as a title; null for sections, title_key for all but files.';

create function name_upload_file() returns trigger language plpgsql as $$
begin
  if new.kind <> 'section' then
    new.name_key := lower(normalize(new.filename));
  end if;
  if new.kind = 'file' then
    new.title_key := file_title_key(new.filename);
  end if;
  return new;
end $$;
comment on function name_upload_file is 'Notes what links and texts call a file.';

-- As titleFromFilename in src/documents/formats/extracted.ts.
create function file_title_key(filename text) returns text language sql immutable as $$
  select lower(trim(regexp_replace(regexp_replace(regexp_replace(filename, '^.*/', ''), '(.)\.[^.\s]{1,16}$', '\1'), '[-_\s]+', ' ', 'g')))
$$;
comment on function file_title_key is 'The name of a file as a title, in lower case.';

create trigger name_upload_file before insert on upload_files for each row execute function name_upload_file();

do $$ begin
  execute format('alter function name_upload_file set search_path = %I, pg_temp', current_schema());
  execute format('alter function file_title_key set search_path = %I, pg_temp', current_schema());
end $$;
