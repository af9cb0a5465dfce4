import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import type { PersonList } from '../../../platform/tables/define-table.ts';
import { lines } from '../../../sources/transfer/export/write-archive.ts';
import type { ZipWriter } from '../../../sources/transfer/export/zip-writer.ts';
import {
  AVATAR_FILES,
  archived,
  FORMAT,
  FORMAT_VERSION,
  MANIFEST_FILE,
  type Manifest,
  PROFILE_FILE,
} from './archive-format.ts';
import { type Read, readProfile, readWorkspaces, WORKSPACES } from './read-account.ts';

/** Writes the profile and the lists, reading them batch by batch. */
export async function writeAccount(
  read: Read,
  lists: readonly PersonList[],
  to: { zip: ZipWriter; blobs: Pick<Blobs, 'stream'>; user_id: string; exported_at: string },
): Promise<void> {
  const { zip, blobs, user_id, exported_at } = to;
  const manifest: Manifest = {
    format: FORMAT,
    version: FORMAT_VERSION,
    user_id,
    exported_at,
  };
  await zip.add(MANIFEST_FILE, json(manifest));
  const [row] = await readProfile(read);
  if (!row) throw new Error('the caller of an export is missing');
  const { avatar_sha256, avatar_type, ...profile } = row;
  const picture = avatar_sha256 === null ? undefined : await openPicture(blobs, avatar_sha256, avatar_type ?? '');
  await zip.add(PROFILE_FILE, json({ ...archived(profile), ...picture?.profile }));
  if (picture?.stream) await zip.add(picture.profile.avatar_file, picture.stream, true);
  for (const list of lists) {
    const rows = list.inWorkspaces ? ofWorkspaces(read, list) : rowsOf(read, list);
    await zip.add(list.file, lines(rows));
  }
}

/** Opens the picture. If the store has lost it or is down, the export continues and the profile contains an error. */
async function openPicture(blobs: Pick<Blobs, 'stream'>, sha256: string, type: string) {
  const avatar_file = AVATAR_FILES[type] ?? 'avatar';
  try {
    return { stream: await blobs.stream(sha256), profile: { avatar_file } };
  } catch {
    return { profile: { avatar_file, avatar_error: 'The file store did not return the picture.' } };
  }
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

async function* rowsOf(
  read: Read,
  { keys, first, most, rows, shown }: PersonList,
  workspace_id = '',
): AsyncGenerator<object> {
  for (let after = first; ; ) {
    const batch = await read<Record<string, string | number>>(rows(after, workspace_id));
    for (const row of batch) yield archived(shown ? await shown(row) : row);
    const last = batch.at(-1);
    if (!last || batch.length < most) return;
    after = keys.map((key) => last[key] ?? '');
  }
}

async function* ofWorkspaces(read: Read, list: PersonList): AsyncGenerator<object> {
  for (let after = ''; ; ) {
    const workspaces = await readWorkspaces(read, after);
    for (const { workspace_id } of workspaces) yield* rowsOf(read, list, workspace_id);
    const last = workspaces.at(-1);
    if (!last || workspaces.length < WORKSPACES) return;
    after = last.workspace_id;
  }
}
