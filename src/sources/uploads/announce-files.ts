import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Id, InputText, pickFields, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Context } from '../../platform/http/endpoint.ts';
import type { Limits } from '../../platform/http/services.ts';
import { toStorageError } from '../../platform/http/to-api-error.ts';
import { fileTooLarge, tooManyFiles, uploadTooLarge } from '../../platform/http/upload-limits.ts';
import { fileRow, newUpload } from './new-upload.ts';
import { Upload, UploadMode, uploadColumns } from './schema.ts';

/** The files of an upload whose bytes will arrive by tus. */
export const AnnouncedFiles = Type.Object(
  {
    files: Type.Array(
      Type.Object(
        {
          filename: InputText({ minLength: 1, description: 'File name; may include folders: "guide/setup.md".' }),
          byte_size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
          content_type: Type.Optional(InputText()),
          sha256: Type.Optional(
            Type.String({
              pattern: '^[0-9a-f]{64}$',
              description: 'If given, the upload fails if the bytes have another hash.',
            }),
          ),
        },
        { title: 'FileToAnnounce' },
      ),
      { minItems: 1, maxItems: 10_000 },
    ),
    mode: Type.Optional(UploadMode),
  },
  { title: 'AnnouncedFiles' },
);
export type AnnouncedFiles = Static<typeof AnnouncedFiles>;

export const AnnouncedUpload = Record(
  {
    upload: Upload,
    files: Type.Array(
      Record(
        {
          file_id: Id,
          filename: Type.String(),
          upload_url: Type.String({ description: 'Address to send the bytes of the file to, with tus 1.0.' }),
        },
        { title: 'AnnouncedFile' },
      ),
      { description: 'In the order of the announcement.' },
    ),
  },
  { title: 'AnnouncedUpload' },
);
export type AnnouncedUpload = Static<typeof AnnouncedUpload>;

export const exampleFiles: AnnouncedFiles = { files: [{ filename: 'guide/setup.md', byte_size: 1_234 }] };

/** The SHA-256 of an empty file. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Creates an upload that waits for the bytes of these files. Answers 413 if a limit is exceeded. */
export async function announceFiles(
  wiki_id: string,
  { files, mode: announced }: AnnouncedFiles,
  mode: UploadMode | undefined,
  {
    services,
    one,
    maybeOne,
    refuse,
  }: Pick<Context<unknown, unknown, unknown>, 'services' | 'one' | 'maybeOne' | 'refuse'>,
): Promise<AnnouncedUpload> {
  const problem = tooLarge(files, services.limits) ?? wrongEmptyHash(files);
  if (problem) return refuse(problem);
  const upload_id = newId('upload');
  const rows = files.map(({ filename, byte_size, content_type = '', sha256: expected_sha256 = '' }, file_no) => {
    const sha256 = byte_size === 0 ? EMPTY : '';
    return fileRow({ filename, content_type, byte_size, received: 0, sha256, expected_sha256 }, file_no);
  });
  if (rows.some(({ byte_size }) => byte_size === 0)) {
    // The client sends no bytes for an empty file, so store it now.
    await maybeOne(sql`select 1`);
    await storeEmptyFile(services.blobs);
  }
  const upload = await one<Upload>({
    ...newUpload(upload_id, 'uploading', rows, announced ?? mode),
    result: sql`select ${uploadColumns} from upload u`,
  });
  const folder = `${services.publicUrl}/v1/wikis/${wiki_id}/uploads/${upload_id}/files`;
  return {
    upload: pickFields(Upload, upload),
    files: rows.map(({ file_id, filename }) => ({ file_id, filename, upload_url: `${folder}/${file_id}` })),
  };
}

function tooLarge(files: AnnouncedFiles['files'], limits: Limits): ApiError | undefined {
  if (files.length > limits.upload_files) return tooManyFiles(limits);
  const largest = files.find(({ byte_size }) => byte_size > limits.file_bytes);
  if (largest) return fileTooLarge(largest.filename, limits);
  const all = files.reduce((sum, { byte_size }) => sum + byte_size, 0);
  return all > limits.upload_bytes ? uploadTooLarge(limits) : undefined;
}

/** Rejects an empty file whose announced hash is not the hash of no bytes. */
function wrongEmptyHash(files: AnnouncedFiles['files']): ApiError | undefined {
  const broken = files.find(({ byte_size, sha256 = EMPTY }) => byte_size === 0 && sha256 !== EMPTY);
  if (!broken) return undefined;
  return new ApiError(
    'invalid_request',
    `"${broken.filename.slice(0, 100)}" is empty, but its sha256 is not the hash of an empty file.`,
  );
}

async function storeEmptyFile(blobs: Context<unknown, unknown, unknown>['services']['blobs']): Promise<void> {
  try {
    const blob = await blobs.receive(Readable.from([]));
    await blob.keep();
  } catch (error) {
    throw toStorageError(error);
  }
}
