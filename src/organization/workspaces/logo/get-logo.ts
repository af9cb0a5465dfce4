import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { Bytes } from '../../../platform/http/bytes.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { letterMark } from './letter-mark.ts';

/**
 * Cache lifetime in seconds, during which a browser may show a replaced logo. Every page shows it, so it is not
 * revalidated each time.
 */
const MAX_AGE = 300;

export const getLogo = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/logo',
  summary: "Get a workspace's logo",
  description:
    "The workspace's logo, or a drawing of the first letter of its name (SVG) if it has none. Browsers cache it for five minutes.",
  access: onWorkspace(''),
  limit: 'files',
  params: Type.Object({ workspace_id: Id }),
  reply: Bytes,
  errors: ['range_not_satisfiable', 'storage_unavailable'],
  example: {
    reply: {
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      byte_size: 18_211,
      content_type: 'image/png',
      filename: 'logo.png',
      inline: true,
      maxAge: MAX_AGE,
    },
  },
  run: async ({ params: { workspace_id }, one }) => {
    const { name, sha256, content_type, byte_size } = await one<{
      name: string;
      sha256: string | null;
      content_type: string;
      byte_size: number;
    }>(sql`
      select w.name, w.logo_sha256 as sha256, w.logo_type as content_type, w.logo_bytes as byte_size
      from workspaces w join access a on a.workspace_id = w.workspace_id`);
    if (sha256 === null)
      return { ...letterMark(workspace_id, name), filename: 'logo.svg', inline: true, maxAge: MAX_AGE };
    const filename = `logo.${content_type.slice('image/'.length)}`;
    return { sha256, byte_size, content_type, filename, inline: true, maxAge: MAX_AGE };
  },
});
