-- The sign-in page of a new service says where the link for the first user is.

create function has_users() returns boolean language sql stable security definer as 'select exists (select from users)';
comment on function has_users is 'Whether the first user has been created, which everybody is told.';
do $$ begin
  execute format('alter function has_users set search_path = %I, pg_temp', current_schema());
end $$;
