import type { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ExtractedDocument } from '../documents/formats/extracted.ts';
import { DOCUMENT_KINDS } from '../documents/formats/kinds.ts';
import { lostText } from '../documents/formats/losses.ts';
import {
  archiveTooLarge,
  BYTES_MAX,
  FILES_MAX,
  LEFT_OUT_NAMED,
  type LeftOut,
  NAME_MAX,
} from '../documents/formats/zip/unpack.ts';
import { CHARACTER_MAPS } from '../programs/packages.ts';
import { Boxes } from './box-messages.ts';
import type { ProcessFailure } from './confined-process.ts';
import type { Frame } from './frames.ts';
import { FileCharacters, Losses } from './loss-messages.ts';
import { NICE } from './priority.ts';
import { openProcessPool } from './process-pool.ts';

export type ReadDocument = { ok: true; document: ExtractedDocument } | { ok: false; code: string; message: string };

export interface Document {
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
}

/** A file from an archive, or why it cannot be read. `name` is as in the archive. */
export type UnpackedFile = { name: string } & (
  | { ok: true; bytes: Buffer }
  | { ok: false; code: string; message: string }
);

export type Unpacked =
  | { is: 'archive'; left_out: LeftOut }
  | { is: 'document' }
  | { is: 'broken'; code: string; message: string };

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
  /** Ends the processes; pending and running requests fail. */
  close(): Promise<void>;
}

/** The valid responses to `read`. Any other response is treated as a crash. */
export const ReadResponse = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    document: Type.Object({
      kind: Type.Enum([...DOCUMENT_KINDS]),
      markdown: Type.String(),
      title: Type.String(),
      language: Type.String(),
      content_type: Type.String({ maxLength: 255 }),
      block_pages: Type.Array(
        Type.Object({
          first_page: Type.Integer({ minimum: 1 }),
          last_page: Type.Integer({ minimum: 1 }),
          boxes: Type.Optional(Boxes),
        }),
      ),
      losses: Losses,
      file_characters: Type.Optional(FileCharacters),
    }),
    pictures: Type.Array(Type.Object({ name: Type.String(), byte_size: Type.Integer({ minimum: 0 }) })),
    /** A second frame follows: the same document with its pictures. */
    has_more: Type.Boolean(),
  }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
export type ReadResponse = Static<typeof ReadResponse>;

const Refusal = Type.Object({ code: Type.String(), message: Type.String() });

/** The valid responses to `unpack`: batches of files, then the end. */
export const UnpackResponse = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    is: Type.Literal('files'),
    files: Type.Array(
      Type.Object({
        name: Type.String(),
        /** The file's size in the body, or why it cannot be read. */
        content: Type.Union([Type.Integer({ minimum: 0 }), Refusal]),
      }),
    ),
  }),
  Type.Object({
    ok: Type.Literal(true),
    is: Type.Literal('archive'),
    left_out: Type.Object({
      hidden: Type.Integer({ minimum: 0 }),
      symbolic_links: Type.Integer({ minimum: 0 }),
      names: Type.Array(Type.String({ maxLength: NAME_MAX }), { maxItems: LEFT_OUT_NAMED }),
    }),
  }),
  Type.Object({ ok: Type.Literal(true), is: Type.Literal('document') }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
export type UnpackResponse = Static<typeof UnpackResponse>;

/** Compiled, because a long document has thousands of blocks and the check blocks the event loop. */
const isReadResponse = Compile(ReadResponse);
const isUnpackResponse = Compile(UnpackResponse);

const FAILURE_MESSAGES: Record<ProcessFailure, string> = {
  crashed: 'the file cannot be read: reading it failed; save it again, or upload its text',
  too_slow: 'the file takes too long to read; split it, and upload its parts',
  out_of_memory: 'the file takes too much memory to read; split it, and upload its parts',
  too_long: 'what the file holds is too much for a page; split it, and upload its parts',
};

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

const NODE_MAJOR = Number(process.versions.node.split('.')[0]);

/**
 * Opens a pool of processes that read documents. A process starts with the first document and ends after `idleMs`
 * without one.
 */
export function openDocumentReader(options: ReaderOptions = {}): DocumentReaderPool {
  const { processes = 2, idleMs = 10_000 } = options;
  const { cpuTimeLimitMs = 20_000, memoryMb = 384, maxOutputBytes = 64 * 2 ** 20 } = options;
  const { withProcess, assertOpen, close } = openProcessPool({
    processes,
    perOwner: processes,
    consecutive: CONSECUTIVE,
    isPrivate: true,
    maxRequests: MAX_DOCUMENTS_PER_PROCESS,
    idleMs,
    program: {
      name: 'document',
      folders: [CHARACTER_MAPS.slice(0, -1)],
      memoryMb,
      maxOutputBytes,
      cpuTimeSeconds: 2_600,
      // The process is too short-lived for TurboFan to pay off. Maglev, the compiler before it, is available from Node
      // 24 on.
      v8: NODE_MAJOR >= 24 ? ['--no-turbofan'] : [],
      nice: NICE.files,
      elapsedTimeFactor: 10,
    },
  });

  const of = (workspace_id: string): DocumentReader => ({
    read({ owner, filename, content_type, byte_size, open }) {
      return withProcess({ owner: workspace_id, context: owner, rank: 0 }, async (lease) => {
        const process = await lease.process();
        const body = { byte_size, chunks: await open() };
        const task = { task: 'read', filename, content_type };
        const text = parseReadResponse(await process.ask(task, body, cpuTimeLimitMs));
        if (!text.isSound) await lease.discard();
        if (!text.hasMore) return text.answer;
        const { isSound, hasMore, answer } = parseReadResponse(await process.next(cpuTimeLimitMs));
        // If the pictures exceed a limit, the document still has its text. No third frame is valid.
        if (!isSound || hasMore) await lease.discard();
        return answer.ok ? answer : withoutPictures(text.answer);
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

  return { of, close };
}

function parseReadResponse(answer: Frame | ProcessFailure): {
  isSound: boolean;
  hasMore: boolean;
  answer: ReadDocument;
} {
  if (typeof answer === 'string') {
    return {
      isSound: false,
      hasMore: false,
      answer: { ok: false, code: 'unreadable', message: FAILURE_MESSAGES[answer] },
    };
  }
  const { header, body } = answer;
  if (!isReadResponse.Check(header)) return parseReadResponse('crashed');
  if (!header.ok) return { isSound: true, hasMore: false, answer: header };
  let at = 0;
  const pictures = header.pictures.map(({ name, byte_size }) => ({
    name,
    bytes: body.subarray(at, (at += byte_size)),
  }));
  return { isSound: true, hasMore: header.has_more, answer: { ok: true, document: { ...header.document, pictures } } };
}

/** The document as it was read before its pictures exceeded a limit. */
function withoutPictures(answer: ReadDocument): ReadDocument {
  if (!answer.ok) return answer;
  const { losses = [] } = answer.document;
  const lost = lostText('picture', '', 'all pictures: reading them takes more than a document may');
  return { ok: true, document: { ...answer.document, losses: [...losses, lost] } };
}

type UnpackProgress = { files: UnpackedFile[] } | { isSound: boolean; answer: Unpacked };

/** `left` is what may still follow. The process checks the same limits, but its output is not trusted. */
function parseUnpackResponse(answer: Frame | ProcessFailure, left: { files: number; bytes: number }): UnpackProgress {
  if (typeof answer === 'string') {
    return { isSound: false, answer: { is: 'broken', code: 'unreadable', message: FAILURE_MESSAGES[answer] } };
  }
  const { header, body } = answer;
  if (!isUnpackResponse.Check(header)) return parseUnpackResponse('crashed', left);
  if (!header.ok) return { isSound: true, answer: { is: 'broken', code: header.code, message: header.message } };
  if (header.is === 'archive') return { isSound: true, answer: { is: 'archive', left_out: header.left_out } };
  if (header.is === 'document') return { isSound: true, answer: { is: 'document' } };
  left.files -= header.files.length;
  left.bytes -= body.length;
  if (left.files < 0 || left.bytes < 0) {
    const { code, message } = archiveTooLarge();
    return { isSound: false, answer: { is: 'broken', code, message } };
  }
  let at = 0;
  const files = header.files.map(({ name, content }): UnpackedFile => {
    if (typeof content !== 'number') return { ok: false, name, ...content };
    return { ok: true, name, bytes: body.subarray(at, (at += content)) };
  });
  return { files };
}
