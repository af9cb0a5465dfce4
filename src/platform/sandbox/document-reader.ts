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
  /** The upload that the document is part of. */
  owner: string;
  byte_size: number;
  open(): Promise<Readable>;
}

/** A document by what it was uploaded as, which tells formats without a signature apart. */
export interface NamedDocument extends Document {
  filename: string;
  /** As declared; it may name the encoding. */
  content_type: string;
  /** Reads it as if its pictures exceeded a limit. */
  withoutPictures?: boolean;
}

/** Reads documents for one workspace, in its turn. */
export interface DocumentReader {
  /**
   * Reads a document of any format that `isDocument` knows in a separate process. Only documents of one upload (`owner`) share a
   * process, so a hostile document can at most change the results of other documents of the same upload. Never throws
   * for the content of a document; throws the errors of `open` and its stream, and if the reader is closed or no
   * process can be started.
   */
  read(document: NamedDocument): Promise<ReadDocument>;
  /**
   * Passes the files of a ZIP archive to `take` in order, in batches, and waits for each call. Returns "document" if
   * the file is a document instead, and "broken" with the reason if the rest cannot be unpacked. Throws as `read` does,
   * and the errors of `take`.
   */
  unpack(archive: Document, take: (files: readonly UnpackedFile[]) => Promise<void>): Promise<Unpacked>;
}

export interface DocumentReaderPool {
  /** For the documents of a workspace, which wait in turns with those of other workspaces. */
  of(workspace_id: string): DocumentReader;
  /** Fails what waits for its turn with 503; what has begun goes on. */
  refuseWaiting(): void;
  /** Ends the processes; pending and running requests fail. */
  close(): Promise<void>;
}

interface ReaderOptions {
  processes?: number;
  idleMs?: number;
  /** CPU time for one document where the system reports it (Linux), else elapsed time. */
  cpuTimeLimitMs?: number;
  memoryMb?: number;
  /** The maximum output for one document. */
  maxOutputBytes?: number;
}

/** How many documents of one upload are read before a waiting document of another one. */
const CONSECUTIVE = 5;

const MAX_DOCUMENTS_PER_PROCESS = 100;

/** Most documents leave less behind; a process that has more MiB is replaced, which costs as much as a small document. */
const MAX_KEPT_MB = 192;

/**
 * Opens a pool of processes that read documents. A process starts with the first document and ends after `idleMs`
 * without one.
 */
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
        // If the pictures exceed a limit, the document still has its text. No third frame is valid.
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
