create table service_controls (
  the_only boolean primary key default true check (the_only),
  jobs_are_paused boolean not null
);
comment on table service_controls is
  'What the operator has set for the whole service; no row: nothing. jobs_are_paused: no process claims jobs, as after a restore.';
grant select on service_controls to ibid_service;
