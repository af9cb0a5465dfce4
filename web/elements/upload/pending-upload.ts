import { callApi, listAll } from '../call-api.ts';
import type { ChosenFile } from './chosen-files.ts';

/** A file that was announced, and as much of it as the service has. */
export interface PendingFile {
  file_id: string;
  name: string;
  size: number;
  /** With the name and the size it says which file of this computer that is. */
  lastModified: number;
  sent: number;
  /** Gone after a reload, until somebody chooses it again. */
  file?: File;
}

/** An upload whose bytes are on their way. */
export interface PendingUpload {
  wiki_id: string;
  upload_id: string;
  files: PendingFile[];
}

export function uploadUrl({ wiki_id, upload_id }: PendingUpload): string {
  return `/v1/wikis/${wiki_id}/uploads/${upload_id}`;
}

/** Says which files will come, and keeps in this browser what is needed to go on after a reload. Errors: Refused. */
export async function announceUpload(wiki_id: string, chosen: readonly ChosenFile[]): Promise<PendingUpload> {
  const reply = await callApi<{ upload: { upload_id: string }; files: { file_id: string }[] }>(
    'POST',
    `/v1/wikis/${wiki_id}/uploads`,
    { files: chosen.map(({ name, file }) => ({ filename: name, byte_size: file.size, content_type: file.type })) },
  );
  const files = chosen.map(({ name, file }, i) => ({
    file_id: reply.files[i]?.file_id ?? '',
    name,
    size: file.size,
    lastModified: file.lastModified,
    sent: 0,
    file,
  }));
  const pending = { wiki_id, upload_id: reply.upload.upload_id, files };
  store(pending);
  return pending;
}

const storageKey = (wiki_id: string, upload_id: string) => `ibid-upload ${wiki_id} ${upload_id}`;

function store({ wiki_id, upload_id, files }: PendingUpload): void {
  const known = files.map(({ file_id, name, size, lastModified }) => ({ file_id, name, size, lastModified }));
  try {
    localStorage.setItem(storageKey(wiki_id, upload_id), JSON.stringify(known));
  } catch {
    // A browser that keeps nothing sends all the same; it only cannot go on after a reload.
  }
}

export function removeStored({ wiki_id, upload_id }: PendingUpload): void {
  localStorage.removeItem(storageKey(wiki_id, upload_id));
}

/** What this browser began to send to the wiki and the service still waits for, with as much as it has. Errors: Refused. */
export async function listPendingUploads(wiki_id: string): Promise<PendingUpload[]> {
  const prefix = storageKey(wiki_id, '');
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  const found = await Promise.all(keys.map((key) => loadPendingUpload(wiki_id, key.slice(prefix.length))));
  return found.filter((pending) => pending !== undefined);
}

async function loadPendingUpload(wiki_id: string, upload_id: string): Promise<PendingUpload | undefined> {
  const known: Omit<PendingFile, 'sent'>[] = JSON.parse(localStorage.getItem(storageKey(wiki_id, upload_id)) ?? '[]');
  const pending: PendingUpload = { wiki_id, upload_id, files: known.map((file) => ({ ...file, sent: 0 })) };
  const upload = await getOrUndefined<{ status: string }>(uploadUrl(pending));
  if (upload?.status !== 'uploading') {
    removeStored(pending);
    return undefined;
  }
  const sent = new Map<string, number>();
  const files = await listAll<{ file_id: string; received: number }>(`${uploadUrl(pending)}/files`);
  for (const { file_id, received } of files) sent.set(file_id, received);
  for (const file of pending.files) file.sent = sent.get(file.file_id) ?? 0;
  return pending;
}

/** undefined for what is gone, or is somebody else's who used this browser before. */
async function getOrUndefined<T extends object>(path: string): Promise<T | undefined> {
  try {
    return await callApi<T>('GET', path);
  } catch (error) {
    if ((error as { status?: number }).status === 404) return undefined;
    throw error;
  }
}

/** Gives the upload those of its files that were chosen again. False, and nothing, where others are among them. */
export function reattachFiles({ files }: PendingUpload, chosen: readonly ChosenFile[]): boolean {
  const byName = new Map(files.map((file) => [file.name, file]));
  const pairs = chosen.map(({ name, file }) => ({ file, known: byName.get(name) }));
  const isSame = pairs.every(
    ({ file, known }) => known && known.size === file.size && known.lastModified === file.lastModified,
  );
  if (!isSame) return false;
  for (const { file, known } of pairs) if (known) known.file = file;
  return chosen.length > 0;
}
