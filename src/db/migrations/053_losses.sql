-- What of a file its text does not have is listed with the source. Lists of sources read the counts alone.
alter table sources
  add column losses           jsonb not null default '[]',
  add column loss_count       int   not null default 0,
  add column losses_to_review int   not null default 0,
  add column file_characters  int   not null default 0;
comment on column sources.losses is
  'What of the file the text does not have, by kind and place: at most 500 entries of src/documents/formats/losses.ts.';
comment on column sources.loss_count is 'The entries of losses.';
comment on column sources.losses_to_review is 'Those of them that are not left out of every file of the format.';
comment on column sources.file_characters is
  'The characters of the file''s text, white space not counted, as another reader counts them; 0 if they were not counted.';
