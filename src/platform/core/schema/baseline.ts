/** The first migration. */
export const BASELINE = '001_baseline.sql';

/**
 * The last migration that the baseline replaced, before the first release. A database with it has the baseline's schema
 * after CHANGES_TO_BASELINE.
 */
const LAST_REPLACED = '290_search_reindex_names.sql';

/** Returns whether a database or backup with these migrations predates the baseline. */
export function isBeforeBaseline(names: readonly string[]): boolean {
  return names.includes('001_foundation.sql') && !names.includes(BASELINE);
}

/** Translates the names of applied migrations to this version: the replaced migrations become the baseline. */
export function currentNames(names: readonly string[]): readonly string[] {
  return isBeforeBaseline(names) && names.includes(LAST_REPLACED) ? [BASELINE] : names;
}

/** Brings a database from before the baseline to the baseline's schema. */
export const CHANGES_TO_BASELINE = `
  -- No transaction names its workspace to a router of shards.
  drop function if exists workspace_of_wiki(text), workspace_of_invitation(bytea);

  -- All postings are in segments. An index from before is computed again.
  update search_wikis w set is_stale = true from search_segments s
    where s.segment_id = 0 and s.wiki_id = w.wiki_id and s.kind = w.kind;
  delete from search_segments where segment_id = 0;
  create or replace function remove_index() returns trigger language plpgsql set search_path = public, pg_temp as $$
  begin
    delete from search_blocks where wiki_id = old.wiki_id and kind = old.kind;
    delete from search_segments where wiki_id = old.wiki_id and kind = old.kind;
    delete from search_words where wiki_id = old.wiki_id and kind = old.kind;
    return null;
  end $$;
  drop table if exists search_postings;
  comment on column search_documents.analysis is 'The version of packages/markdown/analysis that found the terms. Those of another one say nothing of the impacts in search_blocks.';
  comment on table search_pending is 'Documents as they were last written, until they are folded into search_segments. Searches look at both. Rows are only added, so writers never wait for each other. Null: to be read from the document''s text.';
  comment on table search_segments is 'The parts of an index, each of the documents that one merge wrote.';

  -- Revisions no longer wait for a migration to be packed.
  create or replace function wikis_with_revisions_to_pack(age interval) returns table (wiki_id text, workspace_id text)
    language sql stable security definer set search_path = public, pg_temp as $$
    select k.wiki_id, k.workspace_id from wikis k
    where k.workspace_id is not null
      and exists (
        select from revisions r where r.wiki_id = k.wiki_id and r.revision > 1
          and r.created_at >= coalesce(k.revisions_packed_to, '-infinity') and r.created_at < now() - age)
  $$;

  -- Every column compares text by its bytes, and what folds it says that it does so in every script.
  create or replace function folded(t text) returns text language sql immutable strict parallel safe as $$
    select lower(t collate "default") collate "C"
  $$;
  do $change$ declare
    c record;
    triggers text[];
    again text;
  begin
    if not exists (select from pg_attribute where attrelid = 'pages'::regclass and attname = 'title' and attcollation = 'pg_catalog."default"'::regcollation) then
      return;
    end if;
    for c in
      select pg_get_functiondef(p.oid) as text from pg_proc p
      where p.pronamespace = current_schema()::regnamespace and p.proname in ('file_title_key', 'write_page_tags', 'name_upload_file')
    loop
      execute replace(replace(c.text, 'lower(', 'folded('), 'regexp_replace(filename,', 'regexp_replace(filename collate "default",');
    end loop;
    alter table pages drop column title_key;
    alter table saved_searches drop column name_key;
    alter table autosaves drop column byte_size;
    -- A column that a trigger names keeps its type.
    triggers := array(
      select pg_get_triggerdef(g.oid) from pg_trigger g join pg_class t on t.oid = g.tgrelid
      where t.relnamespace = current_schema()::regnamespace and not g.tgisinternal);
    for c in
      select g.tgname, g.tgrelid::regclass as name from pg_trigger g join pg_class t on t.oid = g.tgrelid
      where t.relnamespace = current_schema()::regnamespace and not g.tgisinternal
    loop
      execute format('drop trigger %I on %s', c.tgname, c.name);
    end loop;
    for c in
      select a.attrelid::regclass as name, a.attname, format_type(a.atttypid, a.atttypmod) as type
      from pg_attribute a join pg_class t on t.oid = a.attrelid
      where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.attcollation not in (0, 'pg_catalog."C"'::regcollation)
    loop
      execute format('alter table %s alter column %I type %s collate "C"', c.name, c.attname, c.type);
    end loop;
    alter table pages add column title_key text collate "C" generated always as (folded(title)) stored;
    create index pages_by_title on pages (wiki_id, title_key) where trashed_at is null;
    alter table autosaves add column byte_size bigint not null generated always as (octet_length(title) + octet_length(markdown)) stored;
    alter table saved_searches add column name_key text collate "C" not null generated always as (folded(name)) stored,
      add constraint saved_searches_by_name unique (wiki_id, user_id, name_key);
    foreach again in array triggers loop
      execute again;
    end loop;
  end $change$`;
