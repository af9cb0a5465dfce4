-- A background job that ends its process each time is set aside after the third time, however often it may fail otherwise.
alter table background_jobs add column crashes smallint not null default 0;
comment on column background_jobs.crashes is
  'How many processes in a row ended while they ran the job.';
