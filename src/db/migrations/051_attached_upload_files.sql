-- Pictures and other files of an upload that become no page by themselves: a page that shows them gets them as attachments.
alter table upload_files add column is_attachment boolean not null default false;
comment on column upload_files.is_attachment is
  'Whether the file becomes no page: pages of the upload that show it or link to it have it as an attachment. page_id is the first of them.';
