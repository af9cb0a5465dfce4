import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText, WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSettings, settingsColumns, WikiSettings } from './schema.ts';

/**
 * An absolute path that ends with a slash, without `.` and `..` segments, `?`, `#`, backslashes, spaces and control
 * characters.
 */
const SITE_ROOT = /^\/(?:(?!\.{1,2}\/)[^/?#\\\s\p{Cc}]+\/)*$/u;
const SITE_ROOT_MAX = 200;

/** The columns that the audit record compares. */
const comparedColumns = sql`w.wiki_id, coalesce(w.site_root, '') as site_root, coalesce(w.home_page_id, '') as home_page_id`;

export const changeSettings = endpoint({
  method: 'PATCH',
  path: '/v1/wikis/:wiki_id/settings',
  summary: "Change a wiki's settings",
  description:
    'Omitted settings do not change. A new root applies to later uploads; existing pages and links stay unchanged.',
  access: onWiki('wikis:manage', { orCreator: true }),
  event: 'wiki.settings_changed',
  params: WikiParams,
  body: Type.Object({
    site_root: Type.Optional(
      Type.Union([InputText(), Type.Null()], {
        description: 'A path that begins with a slash, such as "/powershell/"; null or "" for none.',
      }),
    ),
    home_page_id: Type.Optional(
      Type.Union([InputText(), Type.Null()], {
        description: 'A page of the wiki; null or "" for the list of recent changes.',
      }),
    ),
  }),
  reply: WikiSettings,
  errors: ['invalid_request'],
  example: { body: { site_root: '/powershell/' }, reply: exampleSettings },
  run: async ({ body, many, refuse }) => {
    const site_root = body.site_root === undefined ? undefined : asSiteRoot(body.site_root);
    if (site_root instanceof ApiError) return refuse(site_root);
    const home = body.home_page_id === undefined ? undefined : body.home_page_id || null;
    const [settings] = await many<WikiSettings>({
      // Lock the row so that concurrent changes run one after another and each audits the settings it replaced.
      before: sql`
        select ${comparedColumns} from wikis w join access on w.wiki_id = access.wiki_id
        where w.workspace_id is not null for update of w`,
      changed: sql`
        update wikis w set
          site_root = ${site_root === undefined ? sql`w.site_root` : sql`${site_root}::text`},
          home_page_id = ${home === undefined ? sql`w.home_page_id` : sql`${home}::text`}
        from before where w.wiki_id = before.wiki_id and (${home ?? null}::text is null or exists (
          select from pages p where p.wiki_id = w.wiki_id and p.page_id = ${home ?? null} and p.trashed_at is null))
        returning w.*`,
      after: sql`select ${comparedColumns} from changed w`,
      result: sql`select ${settingsColumns} from changed w`,
    });
    return settings ?? refuse(new ApiError('invalid_request', 'The wiki has no such page. Choose another one.'));
  },
});

/** Returns the site root with a slash at its end, null if none is given, or the ApiError of an invalid one. */
function asSiteRoot(given: string | null): string | null | ApiError {
  const trimmed = (given ?? '').trim();
  if (trimmed === '' || trimmed === '/') return null;
  const site_root = trimmed.endsWith('/') ? trimmed : `${trimmed}/`;
  if (site_root.length <= SITE_ROOT_MAX && SITE_ROOT.test(site_root)) return site_root;
  return new ApiError(
    'invalid_request',
    `A site root must be a path that begins with "/", such as "/powershell/", without "..", "?" and "#", of at most ${SITE_ROOT_MAX} characters.`,
  );
}
