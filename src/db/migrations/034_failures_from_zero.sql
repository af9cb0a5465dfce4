-- A job that got on and was then put back in order counted -1 failures, and so had an attempt more than others. The rows
-- are corrected in the next migration, and the constraint is validated in the one after.
alter table jobs add constraint jobs_failures_check check (failures >= 0) not valid;

-- A function that runs as its owner looks for tables where they are, and never in a schema that its caller chose.
do $$ begin
  execute format('alter function widget_origin_is_allowed set search_path = %I, pg_temp', current_schema());
end $$;
