-- migration: batches
update jobs set failures = 0 where (wiki_id, job_id) in (select wiki_id, job_id from jobs where failures < 0 limit 1000)
