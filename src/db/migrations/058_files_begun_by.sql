-- Which worker began to read a file, so that an outage of the database counts as no end of the service.
alter table upload_files add column begun_by text;
comment on column upload_files.begun_by is
  'The worker whose attempt is counted in attempts. If it still lives, the attempt ended otherwise, and is not counted.';
