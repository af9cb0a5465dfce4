-- Blocks of postings stay in their rows as long as they fit: a search of common words reads hundreds of them.
alter table search_postings set (toast_tuple_target = 8160);
