-- A release before this one looks for the text of a page in page_texts alone.
-- The text of a page that a file was read as is that of its source, nearly always byte by byte, and was stored twice: 2.8 KB of a
-- page of 4 KB. Now the page names the source, until its own text is another one.
alter table pages add column text_source_id text collate "C";
comment on column pages.text_source_id is 'The source whose text is the plain text of the page; null: it has its own, in page_texts.';
comment on table page_texts is 'The plain text of the present revision, for search and snippets. A page whose text is that of its source has no row.';

create function keep_texts_of_pages() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with kept as (
    update pages p set text_source_id = null where p.text_source_id = old.source_id and p.wiki_id = old.wiki_id returning p.page_id
  )
  insert into page_texts (wiki_id, page_id, text)
  select old.wiki_id, k.page_id, t.text
  from kept k cross join lateral (
    select t.text from source_texts t where t.wiki_id = old.wiki_id and t.source_id = old.source_id) t
  on conflict (wiki_id, page_id) do update set text = excluded.text;
  return null;
end $$;
create function keep_changed_texts_of_pages() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with kept as (
    update pages p set text_source_id = null where p.text_source_id = old.source_id and p.wiki_id = old.wiki_id returning p.page_id
  )
  insert into page_texts (wiki_id, page_id, text) select old.wiki_id, k.page_id, old.text from kept k
  on conflict (wiki_id, page_id) do update set text = excluded.text;
  return null;
end $$;
comment on function keep_texts_of_pages() is 'Gives pages the text of their source that is being deleted.';
comment on function keep_changed_texts_of_pages() is 'Gives pages the text that their source had.';
-- Triggers run in the order of their names: this one before those of foreign keys (RI_…), which delete the text.
create trigger "Keep_texts_of_pages" after delete on sources for each row execute function keep_texts_of_pages();
create trigger keep_texts_of_pages after update of text on source_texts
  for each row when (old.text <> new.text) execute function keep_changed_texts_of_pages();
