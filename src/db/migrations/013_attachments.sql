-- Pictures and files that pages show.

create table attachments (
  wiki_id       text collate "C" not null,
  attachment_id text collate "C" not null,
  page_id       text collate "C" not null,
  filename      text not null,
  content_type  text not null,
  byte_size     bigint not null,
  sha256        text collate "C" not null,
  created_at    timestamptz not null default now(),
  created_by    text collate "C" not null,
  primary key (wiki_id, attachment_id),
  unique (wiki_id, page_id, sha256),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table attachments is 'What a page has beside its text. The same bytes are one attachment of a page. content_type is found out from the bytes.';
grant select, insert, update, delete on attachments to ibid_service;
alter table attachments enable row level security;
create policy of_the_wiki on attachments using (wiki_id = (select own_wiki()));
