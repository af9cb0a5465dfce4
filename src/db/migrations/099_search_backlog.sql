create function search_backlog(out documents bigint, out oldest_seconds double precision)
language sql stable security definer as $$
  select count(*), coalesce(extract(epoch from now() - min(p.created_at))::float8, 0) from search_pending p
$$;
comment on function search_backlog is
  'For metrics: how many documents wait to be merged into the search indexes, and for how long the oldest of them has.';
do $$
begin
  execute format('alter function search_backlog set search_path = %I, pg_temp', current_schema());
end $$;
