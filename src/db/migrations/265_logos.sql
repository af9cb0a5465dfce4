-- works with: any
-- A workspace's own logo, which stands in place of its first letter.
alter table workspaces
  add column logo_sha256 text collate "C",
  add column logo_type   text collate "C",
  add column logo_bytes  int;
comment on column workspaces.logo_sha256 is 'The blob of the logo, without the metadata of what was sent; null for none.';
comment on column workspaces.logo_type is 'The media type of the logo, as its bytes say.';
comment on column workspaces.logo_bytes is 'The size of the logo.';

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
    union all
    select w.logo_sha256, 'logo', '', w.workspace_id, null, false from workspaces w
  ) r
  where r.sha256 <> '' and not r.is_released and (select is_service());
