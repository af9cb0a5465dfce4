/** The first migration. */
export const BASELINE = '001_baseline.sql';

/** The last of the migrations that the baseline replaced, before the first release: a database that has it is as the baseline makes it. */
const LAST_REPLACED = '290_search_reindex_names.sql';

/** Whether a database or a backup with these migrations was made before there was a baseline. */
export function isBeforeBaseline(names: readonly string[]): boolean {
  return names.includes('001_foundation.sql') && !names.includes(BASELINE);
}

/** The names of applied migrations as this version calls them; those of a database from before the baseline are the baseline. */
export function currentNames(names: readonly string[]): readonly string[] {
  return isBeforeBaseline(names) && names.includes(LAST_REPLACED) ? [BASELINE] : names;
}

/** What else makes a database from before the baseline as the baseline makes it: revisions no longer wait for a migration to be packed. */
export const CHANGES_TO_BASELINE = `
  create or replace function wikis_with_revisions_to_pack(age interval) returns table (wiki_id text, workspace_id text)
    language sql stable security definer set search_path = public, pg_temp as $$
    select k.wiki_id, k.workspace_id from wikis k
    where k.workspace_id is not null
      and exists (
        select from revisions r where r.wiki_id = k.wiki_id and r.revision > 1
          and r.created_at >= coalesce(k.revisions_packed_to, '-infinity') and r.created_at < now() - age)
  $$`;
