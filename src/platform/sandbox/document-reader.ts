import type { Readable } from 'node:stream';
import { BYTES_MAX, FILES_MAX } from '@ibid/documents/formats/zip/unpack.ts';
import {
  parseReadResponse,
  parseUnpackResponse,
  type ReadDocument,
  type Unpacked,
  type UnpackedFile,
  withoutMore,
} from './document-messages.ts';
import { NICE } from './priority.ts';
import { openProcessPool } from './process-pool.ts';
import { V8 } from './v8-options.ts';

interface Document {
  /** The upload that the document belongs to. */
  owner: string;
  byte_size: number;
  open(): Promise<Readable>;
}

/** A document with its declared name and type, which identify formats that have no signature. */
export interface NamedDocument extends Document {
  filename: string;
  /** May name the encoding. */
  content_type: string;
  /** Skips the pictures, as if they exceeded a limit. */
  withoutPictures?: boolean;
}

/** Reads documents for one workspace, which takes turns with the others. */
export interface DocumentReader {
  /**
   * Reads a document of any format that `isDocument` accepts in a separate process. Only documents of one upload
   * (`owner`) share a process, so a hostile document can at most change the results of other documents in its upload.
   * Never throws because of the content of a document. Throws the errors of `open` and of its stream, and if the reader
   * is closed or no process can be started.
   */
  read(document: NamedDocument): Promise<ReadDocument>;
  /**
   * Passes the files of a ZIP archive to `take` in order, in batches, and waits for each call. Returns "document" if
   * the file is a document instead, and "broken" with the reason if the rest cannot be unpacked. Throws the same errors
   * as `read`, and the errors of `take`.
   */
  unpack(archive: Document, take: (files: readonly UnpackedFile[]) => Promise<void>): Promise<Unpacked>;
}

export interface DocumentReaderPool {
  /** Returns the reader for a workspace's documents, which take turns with the documents of other workspaces. */
  of(workspace_id: string): DocumentReader;
  /** Fails queued work with 503. Running work continues. */
  refuseWaiting(): void;
  /** Ends the processes; queued and running requests fail. */
  close(): Promise<void>;
}

interface ReaderOptions {
  processes?: number;
  idleMs?: number;
  /** CPU time per document where the system reports it (Linux), otherwise elapsed time. */
  cpuTimeLimitMs?: number;
  memoryMb?: number;
  /** Maximum output per document. */
  maxOutputBytes?: number;
}

/** Documents of one upload that are read in a row while a document of another upload waits. */
const CONSECUTIVE = 5;

const MAX_DOCUMENTS_PER_PROCESS = 100;

/**
 * Most documents leave a smaller process. A process above this size (in MiB) is replaced, which costs as much as a
 * small document.
 */
const MAX_KEPT_MB = 192;

/** Opens a pool of processes that read documents. A process starts on demand and ends after being idle for `idleMs`. */
export function openDocumentReader(options: ReaderOptions = {}): DocumentReaderPool {
  const { processes = 2, idleMs = 10_000 } = options;
  const { cpuTimeLimitMs = 20_000, memoryMb = 384, maxOutputBytes = 64 * 2 ** 20 } = options;
  const { withProcess, assertOpen, refuseWaiting, close } = openProcessPool({
    processes,
    perOwner: processes,
    consecutive: CONSECUTIVE,
    isPrivate: true,
    maxRequests: MAX_DOCUMENTS_PER_PROCESS,
    maxKeptMb: MAX_KEPT_MB,
    idleMs,
    program: {
      name: 'document',
      memoryMb,
      maxOutputBytes,
      cpuTimeSeconds: 2_600,
      v8: V8.documents,
      nice: NICE.files,
      elapsedTimeFactor: 10,
    },
  });

  const of = (workspace_id: string): DocumentReader => ({
    read({ owner, filename, content_type, withoutPictures = false, byte_size, open }) {
      return withProcess({ owner: workspace_id, context: owner, rank: 0 }, async (lease) => {
        const process = await lease.process();
        const body = { byte_size, chunks: await open() };
        const task = { task: 'read', filename, content_type };
        const text = parseReadResponse(await process.ask(task, body, cpuTimeLimitMs));
        if (!text.isSound) await lease.discard();
        if (!text.hasMore) return text.answer;
        if (withoutPictures) {
          await lease.discard();
          return withoutMore(text.answer);
        }
        const { isSound, hasMore, answer } = parseReadResponse(await process.next(cpuTimeLimitMs));
        // If the pictures exceed a limit, the text is returned without them. A third frame is never valid.
        if (!isSound || hasMore) await lease.discard();
        return answer.ok ? answer : withoutMore(text.answer);
      });
    },
    unpack({ owner, byte_size, open }, take) {
      return withProcess({ owner: workspace_id, context: owner, rank: 0 }, async (lease) => {
        const process = await lease.process();
        const left = { files: FILES_MAX, bytes: BYTES_MAX };
        const body = { byte_size, chunks: await open() };
        let response = parseUnpackResponse(await process.ask({ task: 'unpack' }, body, cpuTimeLimitMs), left);
        while ('files' in response) {
          await take(response.files);
          assertOpen();
          response = parseUnpackResponse(await process.next(cpuTimeLimitMs), left);
        }
        if (!response.isSound) await lease.discard();
        return response.answer;
      });
    },
  });

  return { of, refuseWaiting, close };
}
