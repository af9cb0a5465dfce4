import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { cleanPicture } from '../../../platform/core/pictures/clean-picture.ts';
import { readPicture } from '../../../platform/core/pictures/read-picture.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { toStorageError } from '../../../platform/http/to-api-error.ts';

/** The workspace row is the only reference to the blob, so this update also releases the previous blob. */
export const putLogo = endpoint({
  method: 'PUT',
  path: '/v1/workspaces/:workspace_id/logo',
  summary: "Set a workspace's logo",
  description:
    'A PNG, JPEG, WebP or GIF without animation, at most 1 MiB and 1,024 pixels on each side. A square picture with a transparent background suits both themes. Metadata is removed.',
  access: onWorkspace('enterprise:manage'),
  event: 'workspace.logo_changed',
  limit: 'uploads',
  consumes: 'picture',
  params: Type.Object({ workspace_id: Id }),
  status: 204,
  reply: Type.Null(),
  errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_unavailable'],
  example: { reply: null },
  run: async ({ bytes, header, maybeOne, one, services }) => {
    // Refuse unauthorized callers before reading the body.
    await maybeOne(sql`select 1`);
    const { content_type, bytes: clean } = cleanPicture(await readPicture(bytes, header('content-length')));
    const [sha256] = await services.blobs.keepAll([clean]).catch((error: unknown) => {
      throw toStorageError(error);
    });
    await one({
      before: sql`
        select w.workspace_id, w.logo_sha256, w.logo_type, w.logo_bytes
        from workspaces w join access a on a.workspace_id = w.workspace_id
        where w.deleted_at is null for no key update of w`,
      after: sql`
        update workspaces w set logo_sha256 = ${sha256}, logo_type = ${content_type}, logo_bytes = ${clean.length}
        from before where w.workspace_id = before.workspace_id
        returning w.workspace_id, w.logo_sha256, w.logo_type, w.logo_bytes`,
      result: sql`select workspace_id from after`,
    });
    return null;
  },
});
