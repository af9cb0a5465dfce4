import { type Static, Type } from 'typebox';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, Record, Text } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export const Wiki = Record(
  {
    wiki_id: Id,
    workspace_id: Id,
    slug: Type.String(),
    title: Type.String(),
    description: Text,
  },
  { title: 'Wiki' },
);
export type Wiki = Static<typeof Wiki>;

const { wiki_id, workspace_id, slug, title, ...others } = Wiki.properties;

/** A wiki as returned by the endpoints that call a workspace an organization. */
export const OrganizationWiki = Record(
  { organization_id: workspace_id, slug, title, wiki_id, ...others },
  { title: 'OrganizationWiki' },
);
export type OrganizationWiki = Static<typeof OrganizationWiki>;

export function toOrganizationWiki({ workspace_id: organization_id, ...wiki }: Wiki): OrganizationWiki {
  return { organization_id, ...wiki };
}

/**
 * Trims a description. Returns 400 `invalid_request` if it is longer than 1,000 characters, and undefined if none is
 * given.
 */
export function readDescription<T extends string | undefined>(text: T): T | ApiError {
  const description = text?.trim() as T;
  if (description === undefined || description.length <= 1_000) return description;
  return new ApiError('invalid_request', 'A description can have at most 1,000 characters.');
}

/** Selects the columns of Wiki from a wiki `w`. */
export const wikiColumns: Sql = sql`w.wiki_id, w.workspace_id, w.slug, w.title, w.description`;

export const WikiSettings = Record(
  {
    site_root: Type.Union([Type.String(), Type.Null()], {
      description:
        'The site path that corresponds to the root of an uploaded folder. With "/powershell/", a link to /powershell/setup/windows resolves to setup/windows.md of the folder. Null if absolute links start at the root of the folder. Applied when a file is uploaded; later changes do not affect existing pages.',
    }),
    home_page_id: Type.Union([Type.String(), Type.Null()], {
      description:
        'The home page of the wiki. If it is null, no longer exists or the caller may not read it, the list of recent changes is shown instead.',
    }),
  },
  { title: 'WikiSettings' },
);

export type WikiSettings = Static<typeof WikiSettings>;

/** Selects the columns of WikiSettings from a wiki `w`. */
export const settingsColumns: Sql = sql`
  w.site_root, case when not ((select restricts()) and exists (
    select from hidden_pages h where h.wiki_id = w.wiki_id and h.page_id = w.home_page_id offset 0)) then w.home_page_id end
    as home_page_id`;

export const exampleSettings: WikiSettings = {
  site_root: '/powershell/',
  home_page_id: 'page_01jd8w3v6xf3e8h2k9m4n5p6s1',
};

export const exampleWiki: Wiki = {
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
  slug: 'main',
  title: 'Acme Wiki',
  description: '',
};
