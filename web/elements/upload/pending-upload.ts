import { callApi, listAll } from '../call-api.ts';
import type { ChosenFile, UploadOptions } from './chosen-files.ts';

/** An announced file, and how many of its bytes the service has. */
export interface PendingFile {
  file_id: string;
  name: string;
  size: number;
  /** Identifies the file on this computer, together with its name and size. */
  lastModified: number;
  sent: number;
  /** undefined after a reload, until the file is chosen again. */
  file?: File;
}

/** An upload whose bytes have not all been sent. */
export interface PendingUpload {
  wiki_id: string;
  upload_id: string;
  files: PendingFile[];
}

export function uploadUrl({ wiki_id, upload_id }: PendingUpload): string {
  return `/v1/wikis/${wiki_id}/uploads/${upload_id}`;
}

function typeOf({ type }: File, encoding: string): string {
  return encoding === '' ? type : `${type || 'text/plain'}; charset=${encoding}`;
}

/** Announces files to the API as an upload, and stores the data needed to resume it after a reload. Throws ApiError. */
export async function announceUpload(
  wiki_id: string,
  chosen: readonly ChosenFile[],
  { mode, encoding }: UploadOptions,
): Promise<PendingUpload> {
  const reply = await callApi<{ upload: { upload_id: string }; files: { file_id: string }[] }>(
    'POST',
    `/v1/wikis/${wiki_id}/uploads`,
    {
      files: chosen.map(({ name, file }) => ({
        filename: name,
        byte_size: file.size,
        content_type: typeOf(file, encoding),
      })),
      mode,
    },
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
    // Without storage the upload works, but cannot be resumed after a reload.
  }
}

export function removeStored({ wiki_id, upload_id }: PendingUpload): void {
  localStorage.removeItem(storageKey(wiki_id, upload_id));
}

/**
 * Lists uploads to the wiki that this browser began and the service still accepts, with their progress. Throws
 * ApiError.
 */
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

/** Returns undefined for a 404: the upload was deleted, or belongs to another user of this browser. */
async function getOrUndefined<T extends object>(path: string): Promise<T | undefined> {
  try {
    return await callApi<T>('GET', path);
  } catch (error) {
    if ((error as { status?: number }).status === 404) return undefined;
    throw error;
  }
}

/** Attaches chosen files to the upload. Returns false, and attaches none, if any of them does not belong to it. */
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
