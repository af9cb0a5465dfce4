import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { checkMarkdown } from '../pages/page-input.ts';
import { AUTOSAVES_MAX, Autosave, AutosaveParams, autosaveColumns, exampleAutosave } from './schema.ts';

const {
  autosave_id: _id,
  wiki_id: _wiki,
  created_at: _created,
  updated_at: _updated,
  ...exampleInput
} = exampleAutosave;

/** Writes no audit record: editors save about once a second, and only the writer can read the text. */
export const putAutosave = endpoint({
  method: 'PUT',
  path: '/v1/wikis/:wiki_id/autosaves/:autosave_id',
  summary: 'Save an autosave',
  description:
    'Stores an unsaved text so that its author can continue on another device or after a crash. ' +
    'Replaces the text stored under this id. Only its author can see it. It expires 90 days after its last change. At most ' +
    '100 for each person in a wiki.',
  access: onWiki('pages:write'),
  params: AutosaveParams,
  bodyLimit: 'markdown',
  body: Type.Object({
    page_id: Type.Optional(InputText({ description: 'The page being edited; "" or absent for a new page.' })),
    parent_page_id: Type.Optional(InputText({ maxLength: 100 })),
    title: InputText({ maxLength: 255 }),
    markdown: Type.String(),
    base_revision: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  }),
  reply: Autosave,
  errors: ['quota_exceeded', 'invalid_request', 'conflict'],
  example: { body: { ...exampleInput, markdown: '# Setup\n\nHalf a sent' }, reply: exampleAutosave },
  run: async ({ params, body, many, refuse, services }) => {
    const { page_id = '', parent_page_id = '', title, markdown, base_revision = 0 } = body;
    const tooLong = checkMarkdown(markdown, services.limits.markdown_bytes);
    if (tooLong) return refuse(tooLong);
    const [kept] = await many<Autosave>({
      s: sql`
        insert into autosaves as s (wiki_id, user_id, autosave_id, page_id, parent_page_id, title, markdown, base_revision)
        select a.wiki_id, a.user_id, ${params.autosave_id}, nullif(${page_id}, ''), ${parent_page_id}, ${title}, ${markdown},
          ${base_revision}
        from access a
        where ${page_id}::text = '' or exists (
          select from pages p where p.wiki_id = a.wiki_id and p.page_id = ${page_id} and p.trashed_at is null)
        on conflict (wiki_id, user_id, autosave_id) do update set page_id = excluded.page_id,
          parent_page_id = excluded.parent_page_id, title = excluded.title, markdown = excluded.markdown,
          base_revision = excluded.base_revision, updated_at = now()
        returning s.*`,
      result: sql`select ${autosaveColumns} from s`,
    }).catch((error: unknown) => {
      throw asLimitError(error);
    });
    if (!kept) throw new ApiError('invalid_request', 'page_id is not a page of this wiki. Send "" for a new page.');
    return kept;
  },
});

function asLimitError(error: unknown): unknown {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code !== '23514' || constraint !== 'autosaves_of_a_person') return error;
  return new ApiError(
    'conflict',
    `You have ${AUTOSAVES_MAX} unsaved texts in this wiki, the maximum. Save or discard some of them.`,
  );
}
