-- migration: batches
update upload_files f set name_key = lower(normalize(f.filename)), title_key = case when f.kind = 'file' then file_title_key(f.filename) end
from (select wiki_id, upload_id, file_no from upload_files where name_key is null and kind <> 'section' limit 1000) n
where f.wiki_id = n.wiki_id and f.upload_id = n.upload_id and f.file_no = n.file_no
