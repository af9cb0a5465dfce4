import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { Problem } from './api.ts';

/** More than the API accepts, so that the API refuses a large file with its own message. */
const FILE_BYTES = 2 ** 21;

export interface FormWithFile {
  form: URLSearchParams;
  file: Buffer;
}

/** Reads a posted form with one small file and drops the bytes of the file beyond FILE_BYTES. Throws Problem 400. */
export function readFormWithFile({ raw, id }: FastifyRequest): Promise<FormWithFile> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Problem(400, { message: 'The form is incomplete. Send it again.', request_id: id }));
    const form = new URLSearchParams();
    const chunks: Buffer[] = [];
    let parser: InstanceType<typeof Busboy>;
    try {
      const limits = { files: 1, fileSize: FILE_BYTES, fields: 10, fieldSize: 1_000, headerPairs: 20 };
      parser = new Busboy({ headers: raw.headers as BusboyHeaders, limits });
    } catch {
      fail();
      return;
    }
    parser.on('field', (name, value) => form.append(name, value));
    parser.on('file', (_field, file) => file.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail));
    parser.on('error', fail);
    parser.on('finish', () => resolve({ form, file: Buffer.concat(chunks) }));
    const failUnlessComplete = () => {
      if (!raw.readableEnded) fail();
    };
    raw.on('error', fail).on('close', failUnlessComplete);
    // The client may have disconnected already.
    if (raw.destroyed) failUnlessComplete();
    raw.pipe(parser);
  });
}
