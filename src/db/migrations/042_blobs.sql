-- Which files the store holds was known to the store alone. A folder was swept by the age of its files; in a bucket, where no
-- object can be deleted on condition, nothing was ever deleted. Now the database decides what is deleted, for both.

create table blobs (
  sha256         text collate "C" primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  byte_size      bigint not null check (byte_size >= 0),
  kept_at        timestamptz not null default now(),
  deleting_since timestamptz
);
comment on table blobs is 'A row for each file of the store, written before its bytes are. kept_at: when it was last stored, also where the store had it already; from then on there are 24 hours to refer to it. deleting_since: it is being deleted, and cannot be stored until its row is gone, or after 10 minutes, when the process that was deleting it has ended.';
create index blobs_deleting on blobs (deleting_since) where deleting_since is not null;

grant select, insert, update, delete on blobs to ibid_service;
alter table blobs enable row level security;
create policy of_the_service on blobs using ((select is_service()));

-- The conditions stand outside, and `since` is a subquery, so that each table is read by its index on sha256.
create view blob_references as
  select r.sha256, r.kind, r.wiki_id, r.id, r.since
  from (
    select f.sha256, 'upload_file' as kind, f.wiki_id, f.upload_id as id,
      (select u.created_at from uploads u where u.wiki_id = f.wiki_id and u.upload_id = f.upload_id) as since
    from upload_files f
    union all
    select s.sha256, 'source', s.wiki_id, s.source_id, s.created_at from sources s
    union all
    select a.sha256, 'attachment', a.wiki_id, a.attachment_id, a.created_at from attachments a
    union all
    select e.sha256, 'export', e.wiki_id, e.export_id,
      (select j.created_at from jobs j where j.wiki_id = e.wiki_id and j.job_id = e.export_id)
    from exports e
    union all
    select i.sha256, 'import', i.wiki_id, i.import_id,
      (select j.created_at from jobs j where j.wiki_id = i.wiki_id and j.job_id = i.import_id)
    from imports i
  ) r
  where r.sha256 <> '' and (select is_service());
comment on view blob_references is 'Which rows refer to a blob, and since when; of an upload''s file the id is that of the upload. Every table that refers to blobs is named here. It reads the rows of all tenants, so it shows them to the service alone; in psql, "set ibid.service to on" first.';
grant select on blob_references to ibid_service;

drop function blobs_in_use(text[]);
