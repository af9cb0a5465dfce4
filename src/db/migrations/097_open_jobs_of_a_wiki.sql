-- migration: concurrently
-- The jobs of a wiki that have not ended were looked for among those of all wikis.
create index concurrently if not exists jobs_open on jobs (wiki_id, job_id) where status in ('queued', 'running');
