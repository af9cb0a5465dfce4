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

/** A bucket, by the commands of S3 that we use. Errors of all: code ENOENT where there is no object; StorageUnavailable. */
export type S3Bucket = ReturnType<typeof openBucket>;

/** Larger files go up in parts, so that a connection that breaks costs one of them. */
const PART_BYTES = 8 * 2 ** 20;

/** How long a bucket may take to be connected to, to begin its answer, and to send the next bytes of one. */
const CONNECT_MS = 3_000;
const ANSWER_MS = 15_000;
const SILENT_MS = 60_000;

/** Opens a bucket; it is asked for nothing yet. */
export function openBucket(place: S3Place) {
  const client = openClient(place);
  const { bucket } = place;
  return {
    /** Sends a file of this machine. */
    putFile: (key: string, file: Incoming) => translated(putFile(client, bucket, key, file)),
    putBytes: (Key: string, Body: Uint8Array) =>
      translated(client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))),
    /** `range` includes both its ends. The stream fails as this does. */
    stream: (key: string, range?: ByteRange) => translated(openObject(client, bucket, key, range)),
    /** The size of an object in bytes, undefined where there is none. */
    sizeOf: (key: string) => translated(sizeOf(client, bucket, key)),
    /** An object that is not there is no error. */
    remove: (Key: string) => translated(client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))),
    /** The objects whose keys have this prefix: all of them, or it fails. */
    list: (prefix: string, signal?: AbortSignal) => list(client, bucket, prefix, signal),
    /** Aborts uploads in parts that began more than this many milliseconds ago; their process was killed. */
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
 * The client looks for settings in the home directory, and fails each request where there is none: a container may run as a user
 * that /etc/passwd does not know. All that it needs is in its options, so any name of a folder that does not exist will do.
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
    // Errors are thrown, and what catches them writes the log.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // Other vendors' servers do not know the newer checksums; the hash is in the key, and the connection has its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENT_MS,
    },
  });
  // Before the request is signed, since a signature covers its headers.
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
    // Upload would hold all of it in memory, and as much of every other file that is on its way.
    await client.send(new PutObjectCommand(object));
    return;
  }
  // One part at a time, since each is in memory while it is sent.
  await new Upload({ client, params: object, partSize: PART_BYTES, queueSize: 1 }).done();
}

async function openObject(client: S3Client, Bucket: string, Key: string, range?: ByteRange): Promise<Readable> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
  const body = new PassThrough({ destroy: (error, done) => done(error && translate(error)) });
  // Errors reach the reader of the stream.
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
  const goesOn = listGoesOn();
  try {
    // Of answers without objects none is seen by the caller, who would look whether to end.
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
 * Fails where a list that is not at its end does not say where it goes on, or says a place where it was before: it would not end, and
 * one that ended there would lack what is not removed, or was not stored, because of it.
 */
function listGoesOn(): (place: string | undefined) => void {
  const seen = new Set<string>();
  return (place) => {
    if (!place || seen.has(place)) throw new Error('the bucket answers a list that does not go on');
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
  const goesOn = listGoesOn();
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
  while (from) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket, Prefix, ...from });
    const page: ListMultipartUploadsCommandOutput | undefined = await client
      .send(list, options)
      .catch((error: unknown) => {
        // Not every vendor's server can list them.
        if (isStatus(error, 501)) return undefined;
        throw error;
      });
    for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
      if (!Initiated || Initiated.getTime() > Date.now() - ageMs) continue;
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options).catch((error: unknown) => {
        // Another process aborts them, too.
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

/** The object, not the bucket: a missing bucket is for the operator to mend. */
function isMissing(error: unknown): boolean {
  return isStatus(error, 404) && (error as Error).name !== 'NoSuchBucket';
}

/** As a file system says it where there is no such object; else the store cannot do it for now. */
function translate(error: unknown): Error {
  if (isMissing(error)) return Object.assign(new Error('no such object', { cause: error }), { code: 'ENOENT' });
  return new StorageUnavailable('the bucket did not do what it was asked', { cause: error });
}

async function translated<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    throw translate(error);
  }
}
