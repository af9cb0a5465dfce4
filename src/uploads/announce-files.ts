import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { sql } from '../db/sql.ts';
import type { Context, Limits } from '../http/endpoint.ts';
import { ApiError, toStorageError } from '../http/errors.ts';
import { cleanFilename } from '../http/filename.ts';
import { newId } from '../http/ids.ts';
import { fieldsOf, Id, Record } from '../http/records.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';

/** The files of an upload whose bytes will come by tus. */
export const AnnouncedFiles = Type.Object({
  files: Type.Array(
    Type.Object({
      filename: Type.String({ minLength: 1, description: 'It may hold folders: "guide/setup.md".' }),
      byte_size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      content_type: Type.Optional(Type.String()),
      sha256: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{64}$', description: 'If given, other bytes fail the upload.' }),
      ),
    }),
    { minItems: 1 },
  ),
});
export type AnnouncedFiles = Static<typeof AnnouncedFiles>;

export const AnnouncedUpload = Record({
  upload: Upload,
  files: Type.Array(
    Record({
      file_id: Id,
      filename: Type.String(),
      upload_url: Type.String({ description: 'Where the bytes of the file go, by tus 1.0.' }),
    }),
    { description: 'In the order in which they were announced.' },
  ),
});
export type AnnouncedUpload = Static<typeof AnnouncedUpload>;

export const exampleFiles: AnnouncedFiles = { files: [{ filename: 'guide/setup.md', byte_size: 1_234 }] };

export const exampleAnnounced: AnnouncedUpload = {
  upload: { ...exampleUpload, finished_at: undefined, status: 'uploading', status_label: 'running', summary: '' },
  files: [
    {
      file_id: 'file_01jd8w3v6xf3e8h2k9m4n5p6x1',
      filename: 'guide/setup.md',
      upload_url:
        'https://wiki.example.com/v1/wikis/wiki_01jd8w3v6xf3e8h2k9m4n5p6q9/uploads/upload_01jd8w3v6xf3e8h2k9m4n5p6u1/files/file_01jd8w3v6xf3e8h2k9m4n5p6x1',
    },
  ],
};

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Makes an upload that waits for the bytes of these files. Errors: 413 past a limit. */
export async function announceFiles(
  wiki_id: string,
  { files }: AnnouncedFiles,
  { services, one, look, refuse }: Pick<Context<unknown, unknown, unknown>, 'services' | 'one' | 'look' | 'refuse'>,
): Promise<AnnouncedUpload> {
  const problem = tooLarge(files, services.limits) ?? brokenPromise(files);
  if (problem) return refuse(problem);
  const upload_id = newId('upload');
  const rows = files.map(({ filename, byte_size, content_type = '', sha256 = '' }, file_no) => ({
    file_no,
    file_id: newId('file'),
    filename: cleanFilename(filename),
    content_type: content_type.slice(0, 255),
    byte_size,
    sha256: byte_size === 0 ? EMPTY : '',
    promised_sha256: sha256,
  }));
  if (rows.some(({ byte_size }) => byte_size === 0)) {
    // Nobody sends the bytes of an empty file.
    await look(sql`select 1`);
    await keepEmpty(services.blobs);
  }
  const upload = await one<Upload>({
    upload: sql`
      insert into uploads (wiki_id, upload_id, status, created_by)
      select access.wiki_id, ${upload_id}, 'uploading', access.user_id from access
      returning *`,
    files: sql`
      insert into upload_files (wiki_id, upload_id, file_no, file_id, filename, content_type, byte_size, sha256, promised_sha256)
      select u.wiki_id, u.upload_id, f.file_no, f.file_id, f.filename, f.content_type, f.byte_size, f.sha256, f.promised_sha256
      from upload u, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as f (file_no int, file_id text, filename text,
        content_type text, byte_size bigint, sha256 text, promised_sha256 text)`,
    result: sql`select ${uploadColumns} from upload u`,
  });
  const folder = `${services.publicUrl}/v1/wikis/${wiki_id}/uploads/${upload_id}/files`;
  return {
    upload: fieldsOf(Upload, upload),
    files: rows.map(({ file_id, filename }) => ({ file_id, filename, upload_url: `${folder}/${file_id}` })),
  };
}

function tooLarge(files: AnnouncedFiles['files'], limits: Limits): ApiError | undefined {
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  const largest = files.find(({ byte_size }) => byte_size > limits.file_bytes);
  const refuse = (text: string) => new ApiError('payload_too_large', text);
  if (files.length > limits.upload_files) return refuse(`An upload has at most ${limits.upload_files} files.`);
  if (largest) {
    return refuse(
      `"${largest.filename.slice(0, 100)}" is larger than the ${mebibytes(limits.file_bytes)} that a file may have.`,
    );
  }
  const all = files.reduce((sum, { byte_size }) => sum + byte_size, 0);
  return all > limits.upload_bytes ? refuse(`An upload is at most ${mebibytes(limits.upload_bytes)}.`) : undefined;
}

/** The bytes of an empty file are known without being sent. */
function brokenPromise(files: AnnouncedFiles['files']): ApiError | undefined {
  const broken = files.find(({ byte_size, sha256 = EMPTY }) => byte_size === 0 && sha256 !== EMPTY);
  if (!broken) return undefined;
  return new ApiError('invalid_request', `"${broken.filename.slice(0, 100)}" is empty, which its sha256 is not of.`);
}

async function keepEmpty(blobs: Context<unknown, unknown, unknown>['services']['blobs']): Promise<void> {
  try {
    const blob = await blobs.receive(Readable.from([]));
    await blob.keep();
  } catch (error) {
    throw toStorageError(error);
  }
}
