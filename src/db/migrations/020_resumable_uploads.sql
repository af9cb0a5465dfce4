-- Uploads whose bytes come in any number of requests.

alter table upload_files
  add column file_id text collate "C",
  add column received bigint not null default 0,
  add column promised_sha256 text collate "C" not null default '';
update upload_files set received = byte_size;
alter table upload_files add check (received between 0 and byte_size);
create unique index upload_files_by_id on upload_files (wiki_id, upload_id, file_id);
comment on column upload_files.file_id is 'By which a client sends the bytes; files of before and folders have none.';
comment on column upload_files.received is 'The bytes that are durable, from the first one on. sha256 is empty until all of them are and were checked.';
comment on column upload_files.promised_sha256 is 'What the client said that the bytes would be; empty where it said nothing.';

create table upload_parts (
  wiki_id   text collate "C" not null,
  upload_id text collate "C" not null,
  file_no   int not null,
  start_at  bigint not null,
  byte_size bigint not null check (byte_size > 0),
  name      text collate "C" not null,
  primary key (wiki_id, upload_id, file_no, start_at),
  foreign key (wiki_id, upload_id) references uploads on delete cascade
);
create index upload_parts_by_name on upload_parts (name);
comment on table upload_parts is 'Where the bytes of a file lie that is not whole yet: parts in the file store, by name. A part that no row names is nobody''s.';
grant select, insert, update, delete on upload_parts to ibid_service;
alter table upload_parts enable row level security;
-- The service looks which parts of the store are still somebody's.
create policy of_the_wiki on upload_parts using (wiki_id = (select own_wiki()) or (select is_service()));

create index uploads_waiting on uploads (updated_at) where status = 'uploading';

create function wikis_with_forgotten_uploads(age interval) returns setof text language sql stable security definer
  as $$ select distinct wiki_id from uploads where status = 'uploading' and updated_at < now() - age limit 100 $$;
comment on function wikis_with_forgotten_uploads is 'For the service''s own housekeeping, which belongs to no wiki.';
do $$ begin
  execute format('alter function wikis_with_forgotten_uploads set search_path = %I, pg_temp', current_schema());
end $$;

create function sources_made(wiki text, upload text) returns int language plpgsql volatile as $$
begin
  return (select count(*) from upload_files f where f.wiki_id = wiki and f.upload_id = upload and f.new_source);
end $$;
comment on function sources_made is 'Sources that an upload has made until now, and not until the statement began: the statement may have waited for the job''s last write.';
