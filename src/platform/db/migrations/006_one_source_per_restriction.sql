alter table sources drop constraint sources_wiki_id_sha256_key;
