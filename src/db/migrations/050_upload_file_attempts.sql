-- An upload's file is counted before a worker reads it, so that one which ends the service is set aside.
alter table upload_files add column attempts smallint not null default 0;
comment on column upload_files.attempts is
  'How often a worker began to read the file and neither finished nor was stopped in order.';
