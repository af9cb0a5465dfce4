-- works with: any
-- Uploads that are announced in one order may be worked on in another. What a folder had before, and which file made a page last,
-- is told by when they were.
alter table uploads add column planned_at timestamptz;
comment on column uploads.planned_at is 'When it was decided which page each file becomes. Null: not yet, or by a release before it was noted, which counts as created_at.';
