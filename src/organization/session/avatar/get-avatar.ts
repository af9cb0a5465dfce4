import { Type } from 'typebox';
import { anyone } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { Bytes } from '../../../platform/http/bytes.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

const PICTURE_HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/**
 * Widgets show avatars on other sites, whose browsers send no credentials with images. The secret address is the
 * credential.
 */
export const getAvatar = endpoint({
  method: 'GET',
  path: '/v1/avatars/:avatar_id',
  summary: 'Get a picture of a user',
  description: 'The picture at `avatar_url`. Its bytes never change: a new picture gets a new address.',
  access: anyone(),
  limit: 'files',
  params: Type.Object({ avatar_id: Type.String() }),
  reply: Bytes,
  errors: ['not_found', 'range_not_satisfiable', 'storage_unavailable'],
  example: {
    reply: {
      sha256: PICTURE_HASH,
      byte_size: 18_211,
      content_type: 'image/png',
      filename: 'avatar.png',
      inline: true,
      isImmutable: true,
    },
  },
  run: async ({ params, one }) => {
    const { sha256, byte_size, content_type } = await one<{ sha256: string; byte_size: number; content_type: string }>(
      sql`select sha256, byte_size, content_type from avatar_of(${params.avatar_id})`,
    );
    const filename = `avatar.${content_type.slice('image/'.length)}`;
    return { sha256, byte_size, content_type, filename, inline: true, isImmutable: true };
  },
});
