-- works with: 102_tree_version.sql
-- A picture that a user has set themselves, which is shown in place of the one that their identity provider names.
alter table users
  add column avatar_id     text collate "C",
  add column avatar_sha256 text collate "C",
  add column avatar_type   text collate "C",
  add column avatar_bytes  int;
comment on column users.avatar_url is 'The picture that the identity provider names; '''' for none. A picture of their own is shown in its place.';
comment on column users.avatar_id is 'The secret in the address of the user''s own picture, at which anyone gets it; null where they have set none. Another picture has another one.';
comment on column users.avatar_sha256 is 'The blob of the picture, without the metadata of what was sent.';

create function avatar_of(picture text) returns table (sha256 text, content_type text, byte_size int)
  language sql stable security definer as 'select u.avatar_sha256, u.avatar_type, u.avatar_bytes from users u where u.avatar_id = picture';
comment on function avatar_of is 'The picture at an address, for anyone who knows it, and nothing of whose it is.';

create or replace view blob_references as
  select r.sha256, r.kind, r.wiki_id, r.id, r.since
  from (
    select f.sha256, 'upload_file' as kind, f.wiki_id, f.upload_id as id,
      (select u.created_at from uploads u where u.wiki_id = f.wiki_id and u.upload_id = f.upload_id) as since,
      f.kind <> 'file' or f.status = 'done' as is_released
    from upload_files f
    union all
    select s.sha256, 'source', s.wiki_id, s.source_id, s.created_at, false from sources s
    union all
    select a.sha256, 'attachment', a.wiki_id, a.attachment_id, a.created_at, false from attachments a
    union all
    select e.sha256, 'export', e.wiki_id, e.export_id,
      (select j.created_at from jobs j where j.wiki_id = e.wiki_id and j.job_id = e.export_id), false
    from exports e
    union all
    select i.sha256, 'import', i.wiki_id, i.import_id,
      (select j.created_at from jobs j where j.wiki_id = i.wiki_id and j.job_id = i.import_id), false
    from imports i
    union all
    select u.avatar_sha256, 'avatar', '', u.user_id, null, false from users u
  ) r
  where r.sha256 <> '' and not r.is_released and (select is_service());

do $$ begin
  execute format('alter function avatar_of set search_path = %I, pg_temp', current_schema());
end $$;
