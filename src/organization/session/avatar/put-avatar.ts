import { randomBytes } from 'node:crypto';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { cleanPicture } from '../../../platform/core/pictures/clean-picture.ts';
import { readPicture } from '../../../platform/core/pictures/read-picture.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { toStorageError } from '../../../platform/http/to-api-error.ts';
import { exampleUser, User, userColumns } from '../../workspaces/schema.ts';

/**
 * A new picture gets a new secret address (docs/decisions/005-attachments.md); setting the same picture again keeps its address, which
 * makes retries safe. The row of the user is the only reference to the blob, so this update also releases the previous
 * blob.
 */
export const putAvatar = endpoint({
  method: 'PUT',
  path: '/v1/me/avatar',
  summary: "Set the caller's picture",
  description:
    "A PNG, JPEG, WebP or GIF without animation, at most 1 MiB and 1,024 pixels on each side. The type is detected from the bytes. Metadata, such as where a photo was taken, is removed. The picture replaces the identity provider's picture.",
  access: signedIn({ unrestricted: true }),
  event: 'user.updated',
  limit: 'uploads',
  consumes: 'picture',
  reply: User,
  errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_unavailable'],
  example: { reply: { ...exampleUser, avatar_url: 'https://wiki.example.com/v1/avatars/6Zb1VjW2mFZcVgq0hQx3Nw' } },
  run: async ({ bytes, header, maybeOne, one, services }) => {
    // Refuse unauthorized callers before reading the body.
    await maybeOne(sql`select 1`);
    const { content_type, bytes: clean } = cleanPicture(await readPicture(bytes, header('content-length')));
    const [sha256] = await services.blobs.keepAll([clean]).catch((error: unknown) => {
      throw toStorageError(error);
    });
    return one<User>({
      before: sql`
        select u.user_id, u.avatar_sha256, u.avatar_type, u.avatar_bytes from users u join access a on a.user_id = u.user_id for update of u`,
      changed: sql`
        update users u set
          avatar_id = case when u.avatar_sha256 = ${sha256} then u.avatar_id else ${randomBytes(16).toString('base64url')} end,
          avatar_sha256 = ${sha256}, avatar_type = ${content_type}, avatar_bytes = ${clean.length}
        from before where u.user_id = before.user_id
        returning u.*`,
      after: sql`select u.user_id, u.avatar_sha256, u.avatar_type, u.avatar_bytes from changed u`,
      result: sql`select ${userColumns(services)} from changed u`,
    });
  },
});
