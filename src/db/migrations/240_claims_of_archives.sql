-- works with: 175_packed_revisions.sql
-- An archive names authors and times that this service cannot verify. They are kept beside what it knows.
alter table revisions add column claim jsonb;
comment on column revisions.claim is 'What the archive that a revision was imported from says of it, unverified: user_id (in imported_people), created_at and origin; and imported_by, who imported it. Null for one that was written here.';
alter table import_revisions add column claim jsonb;
comment on column import_revisions.claim is 'As revisions.claim.';
comment on table imported_people is 'People whom imported archives name: what the archive says of them, under ids that are nobody''s.';
