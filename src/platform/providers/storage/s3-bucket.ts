import { createReadStream } from 'node:fs';
import { homedir } from 'node:os';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { traced } from '../../core/tracing.ts';
import { type Incoming, StorageUnavailable } from './blobs.ts';
import type { S3Place } from './s3-place.ts';

/**
 * A bucket, with the S3 commands that the service uses. All of them throw StorageUnavailable, and an error with code
 * ENOENT if the object does not exist.
 */
export type S3Bucket = ReturnType<typeof openBucket>;

/** Larger files are sent in parts, so that after a broken connection only one part is sent again. */
const PART_BYTES = 8 * 2 ** 20;

/** Timeouts for the connection, for the start of a response, and for the next bytes of it. */
const CONNECT_MS = 3_000;
const ANSWER_MS = 15_000;
const SILENT_MS = 60_000;

/** Opens a bucket without sending a request. */
export function openBucket(place: S3Place) {
  const client = openClient(place);
  const { bucket } = place;
  return {
    /** Sends a local file. */
    putFile: (key: string, file: Incoming) => translated(putFile(client, bucket, key, file)),
    putBytes: (Key: string, Body: Uint8Array) =>
      translated(client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))),
    /** `range` includes both ends. The stream fails with the same errors. */
    stream: (key: string, range?: ByteRange) => translated(openObject(client, bucket, key, range)),
    /** Returns the size of an object in bytes; undefined if it does not exist. */
    sizeOf: (key: string) => translated(sizeOf(client, bucket, key)),
    /** Ignores a missing object. */
    remove: (Key: string) => translated(client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))),
    /** Lists all objects whose keys have this prefix, or fails. */
    list: (prefix: string, signal?: AbortSignal) => list(client, bucket, prefix, signal),
    /**
     * Aborts multipart uploads that were started more than this many milliseconds ago, by processes that were killed.
     */
    abortUnfinished: (prefix: string, ageMs: number, signal?: AbortSignal) =>
      translated(abortUnfinished(client, bucket, prefix, ageMs, signal)),
    close: () => client.destroy(),
  };
}

interface ListedObject {
  key: string;
  byteSize: number;
  /** Milliseconds since the epoch. */
  storedAt: number;
}

interface ByteRange {
  start: number;
  end: number;
}

/**
 * Sets a home directory. The client looks for settings there and fails every request without one, for example in a
 * container whose user is not in /etc/passwd. All settings are in the client's options, so any folder that does not
 * exist will do.
 */
function nameHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = '/nonexistent';
  }
}

function openClient(place: S3Place): S3Client {
  nameHome();
  const client = new S3Client({
    region: place.region,
    endpoint: place.endpoint,
    forcePathStyle: place.path_style,
    credentials: { accessKeyId: place.access_key, secretAccessKey: place.secret_key },
    maxAttempts: 2,
    // Errors are thrown, and their handlers write the log.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // Some vendors' servers do not know the newer checksums. The key contains the hash, and TLS protects the transfer.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENT_MS,
    },
  });
  // Added before signing, because the signature covers the headers.
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        traced(`s3 ${commandName}`, 'client', {}, (span) => {
          const { headers } = args.request as { headers: Record<string, string> };
          if (span) headers.traceparent = span.traceparent;
          return next(args);
        }),
    { step: 'build', name: 'traced' },
  );
  return client;
}

async function putFile(client: S3Client, Bucket: string, Key: string, { path, byte_size }: Incoming): Promise<void> {
  const Body = createReadStream(path);
  const object = { Bucket, Key, Body, ContentLength: byte_size };
  if (byte_size <= PART_BYTES) {
    // Upload would buffer the whole file in memory, for every file in transit.
    await client.send(new PutObjectCommand(object));
    return;
  }
  // One part at a time, because each part is in memory while it is sent.
  await new Upload({ client, params: object, partSize: PART_BYTES, queueSize: 1 }).done();
}

async function openObject(client: S3Client, Bucket: string, Key: string, range?: ByteRange): Promise<Readable> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
  const body = new PassThrough({ destroy: (error, done) => done(error && translate(error)) });
  // The reader of the stream gets the errors.
  pipeline(Body as Readable, body, () => undefined);
  return body;
}

async function sizeOf(client: S3Client, Bucket: string, Key: string): Promise<number | undefined> {
  try {
    return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function* list(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  abortSignal?: AbortSignal,
): AsyncIterable<ListedObject> {
  const goesOn = checkContinuation();
  try {
    // The paginator gets the signal, because the caller cannot check it between pages without objects.
    const pages = paginateListObjectsV2({ client }, { Bucket, Prefix }, { ...(abortSignal && { abortSignal }) });
    for await (const { Contents = [], IsTruncated, NextContinuationToken } of pages) {
      for (const { Key = '', Size = 0, LastModified } of Contents) {
        yield { key: Key, byteSize: Size, storedAt: LastModified?.getTime() ?? Date.now() };
      }
      if (IsTruncated || NextContinuationToken) goesOn(NextContinuationToken);
    }
  } catch (error) {
    throw translate(error);
  }
}

/**
 * Fails if a truncated list has no continuation token or repeats one. Otherwise the list would never end, or it would
 * end early and the caller would miss objects.
 */
function checkContinuation(): (place: string | undefined) => void {
  const seen = new Set<string>();
  return (place) => {
    if (!place || seen.has(place)) throw new Error('the bucket returned a truncated list that cannot be continued');
    seen.add(place);
  };
}

async function abortUnfinished(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  ageMs: number,
  abortSignal?: AbortSignal,
): Promise<void> {
  const options = { ...(abortSignal && { abortSignal }) };
  const goesOn = checkContinuation();
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
  while (from) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket, Prefix, ...from });
    const page: ListMultipartUploadsCommandOutput | undefined = await client
      .send(list, options)
      .catch((error: unknown) => {
        // Some vendors' servers cannot list them.
        if (isStatus(error, 501)) return undefined;
        throw error;
      });
    for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
      if (!Initiated || Initiated.getTime() > Date.now() - ageMs) continue;
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options).catch((error: unknown) => {
        // Another process may have aborted it already.
        if (!isMissing(error)) throw error;
      });
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page ?? {};
    if (page?.IsTruncated) goesOn(KeyMarker && JSON.stringify([KeyMarker, UploadIdMarker]));
    from = page?.IsTruncated ? { KeyMarker, UploadIdMarker } : undefined;
  }
}

function isStatus(error: unknown, status: number): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === status;
}

/** Missing object, as opposed to a missing bucket, which the operator has to fix. */
function isMissing(error: unknown): boolean {
  return isStatus(error, 404) && (error as Error).name !== 'NoSuchBucket';
}

/** Translates a missing object to ENOENT, like a file system, and all other errors to StorageUnavailable. */
function translate(error: unknown): Error {
  if (isMissing(error)) return Object.assign(new Error('no such object', { cause: error }), { code: 'ENOENT' });
  return new StorageUnavailable('the request to the bucket failed', { cause: error });
}

async function translated<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    throw translate(error);
  }
}
