-- What the page of a file was last made from, so that the same file is not read and rendered again.
create table compiled_files (
  wiki_id    text collate "C" not null,
  page_id    text collate "C" not null,
  upload_id  text collate "C" not null,
  file_no    int not null,
  refers_to  text[] not null,
  digest     text collate "C" not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table compiled_files is 'What the page of a file was last made from, by an upload or the ones since that brought the same. A page without a row is made again.';
comment on column compiled_files.upload_id is 'The last upload that had the file; upload_id and file_no name its row in upload_files, and those of its sections.';
comment on column compiled_files.refers_to is 'The addresses in the file that may lead to other files, and the targets of its wiki links after "[[".';
comment on column compiled_files.digest is 'A hash of everything that the page depends on: the file''s bytes, name and type, the page''s path, the version that compiles, and where each reference leads.';
grant select, insert, update, delete on compiled_files to ibid_service;
alter table compiled_files enable row level security;
create policy of_the_wiki on compiled_files using (wiki_id = (select own_wiki()));
