import { createReadStream } from 'node:fs';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type Blobs, type Incoming, mapAtOnce, openIncoming, StorageUnavailable, sha256Of } from './blobs.ts';

/** Where a bucket is, as STORAGE_URL says it. */
export interface S3Place {
  endpoint: string;
  region: string;
  bucket: string;
  /** What stands before each key: '' or a folder with a slash behind it. */
  prefix: string;
  path_style: boolean;
  access_key: string;
  secret_key: string;
}

/** From this size on a blob goes up in pieces, so that a connection that breaks costs one of them. */
const PIECE_BYTES = 8 * 2 ** 20;

/** The SHA-256 of no bytes. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** How long a bucket may take to be connected to, to begin its answer, and to send the next bytes of one. */
const CONNECT_MS = 3_000;
const ANSWER_MS = 15_000;
const SILENT_MS = 60_000;

/**
 * Reads `s3://key:secret@host:port/bucket/folder?region=…&path_style=…&tls=…`. By https, except on this machine, and with
 * the bucket in the path, unless it says otherwise. Errors: one whose message says what is wrong.
 */
export function readS3Url(text: string): S3Place {
  const { username, password, host, hostname, pathname, searchParams } = new URL(text);
  const [bucket = '', ...folders] = pathname.split('/').filter((segment) => segment !== '');
  if (username === '' || password === '' || bucket === '') {
    throw new Error('STORAGE_URL takes an address such as s3://key:secret@host:9000/bucket?region=eu-central-1.');
  }
  const flag = (name: string, usual: boolean) => {
    const value = searchParams.get(name) ?? String(usual);
    if (value === 'true' || value === 'false') return value === 'true';
    throw new Error(`STORAGE_URL has a ${name} that is neither true nor false.`);
  };
  const isHere = /^(127\.[\d.]+|localhost|\[::1\])$/.test(hostname);
  return {
    endpoint: `${flag('tls', !isHere) ? 'https' : 'http'}://${host}`,
    region: searchParams.get('region') ?? 'us-east-1',
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    path_style: flag('path_style', true),
    access_key: decodeURIComponent(username),
    secret_key: decodeURIComponent(password),
  };
}

/**
 * Blobs in a bucket: `blobs/ab/abcdef…` and `parts/…`. What comes is received into a folder of this machine first, where
 * its hash and length are found out; it counts as kept when the bucket has said that it has all of it.
 */
export async function openS3Blobs(place: S3Place, incoming: string): Promise<Blobs & { close(): void }> {
  const receive = await openIncoming(incoming);
  const { bucket: Bucket, prefix } = place;
  const client = new S3Client({
    region: place.region,
    endpoint: place.endpoint,
    forcePathStyle: place.path_style,
    credentials: { accessKeyId: place.access_key, secretAccessKey: place.secret_key },
    maxAttempts: 2,
    // What goes wrong is thrown, and whoever catches it writes the log.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // Other makers' servers know none of the newer checksums; the hash is in the key, and the connection has its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENT_MS,
    },
  });
  const keyOf = (sha256: string) => `${prefix}blobs/${sha256.slice(0, 2)}/${sha256}`;
  /** Contents that are being stored just now, by their key. */
  const keeping = new Map<string, Promise<void>>();
  const partOf = (name: string) => `${prefix}parts/${name}`;

  async function put(Key: string, { path, byte_size }: Incoming): Promise<void> {
    if (byte_size <= PIECE_BYTES) {
      const Body = createReadStream(path);
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: byte_size }));
      return;
    }
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    try {
      const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
      for (let start = 0; start < byte_size; start += PIECE_BYTES) {
        const PartNumber = Parts.length + 1;
        const end = Math.min(start + PIECE_BYTES, byte_size) - 1;
        const Body = createReadStream(path, { start, end });
        const ContentLength = end - start + 1;
        const piece = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength });
        const { ETag } = await client.send(piece);
        Parts.push({ PartNumber, ETag });
      }
      const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
      await client.send(new CompleteMultipartUploadCommand(whole));
    } catch (error) {
      // What the bucket then still holds of it, the sweep takes away.
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
      throw error;
    }
  }

  /** Those who bring the same bytes at once take turns: the first one stores them, or the next where it could not. */
  async function keepContent(Key: string, byte_size: number, store: (Key: string) => Promise<unknown>): Promise<void> {
    while (keeping.has(Key)) await keeping.get(Key)?.catch(() => undefined);
    const kept = (async () => {
      if (!(await isThere(Key, byte_size))) await store(Key);
    })();
    keeping.set(Key, kept);
    try {
      await kept;
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      keeping.delete(Key);
    }
  }

  async function isThere(Key: string, byte_size: number): Promise<boolean> {
    try {
      const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key }));
      return ContentLength === byte_size;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Takes away the pieces of what a process that was killed had begun to store. Not every maker's server can list it. */
  async function abortUnfinished(Prefix: string, age_ms: number): Promise<void> {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
    while (from) {
      const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket, Prefix, ...from });
      const page: ListMultipartUploadsCommandOutput | undefined = await client.send(list).catch((error: unknown) => {
        if (isStatus(error, 501)) return undefined;
        throw error;
      });
      for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
        if (!Initiated || Initiated.getTime() > Date.now() - age_ms) continue;
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
          // Another process sweeps, too.
          if (!isMissing(error)) throw error;
        });
      }
      from = page?.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
    }
  }

  async function get(Key: string, range?: { start: number; end: number }): Promise<Readable> {
    try {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
      return speakingOfTheBucket(Body as Readable);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  return {
    async receive(stream) {
      const file = await receive(stream);
      return {
        sha256: file.sha256,
        byte_size: file.byte_size,
        discard: file.discard,
        async keep() {
          await keepContent(keyOf(file.sha256), file.byte_size, (Key) => put(Key, file));
          await file.discard();
        },
        async keepAsPart(name) {
          await put(partOf(name), file).catch((error) => {
            throw asUnavailable(error);
          });
          await file.discard();
        },
      };
    },
    read: async (sha256) => buffer(await get(keyOf(sha256))),
    // An empty object has no range.
    keepAll: (contents) =>
      mapAtOnce(contents, async (content) => {
        const sha256 = await sha256Of(content);
        await keepContent(keyOf(sha256), content.length, (Key) =>
          client.send(new PutObjectCommand({ Bucket, Key, Body: content })),
        );
        return sha256;
      }),
    stream: (sha256, range) => get(keyOf(sha256), sha256 === EMPTY ? undefined : range),
    // A bucket cannot be told to delete only what nobody has stored anew since it was looked at: what is whole stays.
    async sweep(age_ms) {
      for (const kind of ['blobs/', 'parts/']) {
        await abortUnfinished(prefix + kind, age_ms).catch((error) => {
          throw asUnavailable(error);
        });
      }
      return 0;
    },
    parts: {
      stream: (name) => get(partOf(name)),
      async remove(name) {
        await client.send(new DeleteObjectCommand({ Bucket, Key: partOf(name) })).catch((error) => {
          throw asUnavailable(error);
        });
      },
      async *olderThan(ms) {
        const Prefix = partOf('');
        let ContinuationToken: string | undefined;
        do {
          const page = await client.send(
            new ListObjectsV2Command({ Bucket, Prefix, ...(ContinuationToken && { ContinuationToken }) }),
          );
          for (const { Key = '', LastModified } of page.Contents ?? []) {
            if (LastModified && LastModified.getTime() < Date.now() - ms) yield Key.slice(Prefix.length);
          }
          ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
        } while (ContinuationToken !== undefined);
      },
    },
    close: () => client.destroy(),
  };
}

/** What breaks off on the way from the bucket is the bucket's fault, too. */
function speakingOfTheBucket(body: Readable): Readable {
  const told = new PassThrough({ destroy: (error, done) => done(error && asUnavailable(error)) });
  // Whoever reads it is told of its failure.
  pipeline(body, told, () => undefined);
  return told;
}

function isStatus(error: unknown, status: number): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === status;
}

/** The object, not the bucket: that is for whoever runs the service to mend. */
function isMissing(error: unknown): boolean {
  return isStatus(error, 404) && (error as Error).name !== 'NoSuchBucket';
}

/** As a file system says it where there is no such object; else the store cannot do it just now. */
function asUnavailable(error: unknown): Error {
  if (isMissing(error)) return Object.assign(new Error('no such object', { cause: error }), { code: 'ENOENT' });
  return new StorageUnavailable('the bucket did not do what it was asked', { cause: error });
}
