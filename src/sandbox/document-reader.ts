import type { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ExtractedDocument } from '../documents/formats/extract.ts';
import { BYTES_MAX, FILES_MAX, tooMuch } from '../documents/formats/unpack.ts';
import type { Broken, ProcessBounds } from './confined-process.ts';
import type { Frame } from './frames.ts';
import { openProcessPool } from './process-pool.ts';

export type ReadDocument = { ok: true; document: ExtractedDocument } | { ok: false; code: string; message: string };

export interface Document {
  /** The upload that it is part of. */
  owner: string;
  byte_size: number;
  open(): Promise<Readable>;
}

/** A file out of an archive, or why it cannot be had. `name` is as the archive has it. */
export type UnpackedFile = { name: string } & (
  | { ok: true; bytes: Buffer }
  | { ok: false; code: string; message: string }
);

export type Unpacked = { is: 'archive' | 'document' } | { is: 'broken'; code: string; message: string };

export interface DocumentReader {
  /**
   * Reads a PDF, a Word document or an EPUB book in a process apart. `owner` is the upload that it is part of: documents of one upload
   * may share a process, so a hostile one could at most change what comes of others that the same person sent with it.
   * Never throws for what a document holds; throws what `open` and its stream do, and if the reader is closed or no process
   * can be started.
   */
  read(document: Document): Promise<ReadDocument>;
  /**
   * Hands over the files of a ZIP archive in their order, some at a time, and waits for them to be taken. Answers
   * "document" for one that is a document instead, and "broken" with the reason where no more could be unpacked. Throws as
   * `read` does, and what `take` throws.
   */
  unpack(archive: Document, take: (files: readonly UnpackedFile[]) => Promise<void>): Promise<Unpacked>;
  /** Ends the processes; what still waits or runs is refused. */
  close(): Promise<void>;
}

/** What a process may answer; everything else is a crash. */
export const ReadAnswer = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    document: Type.Object({
      kind: Type.Enum(['pdf', 'docx', 'epub']),
      markdown: Type.String(),
      title: Type.String(),
      language: Type.String(),
      content_type: Type.String({ maxLength: 255 }),
      block_pages: Type.Array(
        Type.Object({ first_page: Type.Integer({ minimum: 1 }), last_page: Type.Integer({ minimum: 1 }) }),
      ),
    }),
    pictures: Type.Array(Type.Object({ name: Type.String(), byte_size: Type.Integer({ minimum: 0 }) })),
    /** The same document follows with its pictures. */
    has_more: Type.Boolean(),
  }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
export type ReadAnswer = Static<typeof ReadAnswer>;

const Refusal = Type.Object({ code: Type.String(), message: Type.String() });

/** What a process may answer when it unpacks: files, some at a time, and then an end. */
export const Packed = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    is: Type.Literal('files'),
    files: Type.Array(
      Type.Object({
        name: Type.String(),
        /** Of its bytes in the body, or why it has none. */
        content: Type.Union([Type.Integer({ minimum: 0 }), Refusal]),
      }),
    ),
  }),
  Type.Object({ ok: Type.Literal(true), is: Type.Enum(['archive', 'document']) }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
export type Packed = Static<typeof Packed>;

/** Compiled: a long document has thousands of blocks, and requests wait until its answer was checked. */
const isReadAnswer = Compile(ReadAnswer);
const isPacked = Compile(Packed);

const BROKEN: Record<Broken, string> = {
  crashed: 'the file cannot be read: reading it failed; save it anew, or upload its text',
  too_slow: 'the file takes too long to read; split it, and upload its parts',
  out_of_memory: 'the file takes too much memory to read; split it, and upload its parts',
  too_long: 'what the file holds is too much for a page; split it, and upload its parts',
};

/** Processes that read documents, started when there is one to read and ended when there has been none for a while. */
export function openDocumentReader(
  options: Partial<ProcessBounds> & { processes?: number; idle_ms?: number } = {},
): DocumentReader {
  const { processes = 2, idle_ms = 10_000 } = options;
  const { document_ms = 20_000, memory_mb = 384, output_bytes = 64 * 2 ** 20 } = options;
  const bounds = { document_ms, memory_mb, output_bytes };
  const { withProcess, assertOpen, close } = openProcessPool({ processes, idle_ms, bounds });

  return {
    read({ owner, byte_size, open }) {
      return withProcess(owner, async (asked) => {
        const text = readAnswer(await asked.ask('read', await open(), byte_size));
        if (!text.hasMore) return text;
        const { isSound, hasMore, answer } = readAnswer(await asked.next());
        // A document whose pictures break the bounds still has its text, and no third answer.
        return { isSound: isSound && !hasMore, answer: answer.ok ? answer : text.answer };
      });
    },
    unpack({ owner, byte_size, open }, take) {
      return withProcess(owner, async (asked) => {
        const left = { files: FILES_MAX, bytes: BYTES_MAX };
        let answer = unpackAnswer(await asked.ask('unpack', await open(), byte_size), left);
        while ('files' in answer) {
          await take(answer.files);
          assertOpen();
          answer = unpackAnswer(await asked.next(), left);
        }
        return answer;
      });
    },
    close,
  };
}

function readAnswer(answer: Frame | Broken): { isSound: boolean; hasMore: boolean; answer: ReadDocument } {
  if (typeof answer === 'string') {
    return { isSound: false, hasMore: false, answer: { ok: false, code: 'unreadable', message: BROKEN[answer] } };
  }
  const { header, body } = answer;
  if (!isReadAnswer.Check(header)) return readAnswer('crashed');
  if (!header.ok) return { isSound: true, hasMore: false, answer: header };
  let at = 0;
  const pictures = header.pictures.map(({ name, byte_size }) => ({
    name,
    bytes: body.subarray(at, (at += byte_size)),
  }));
  return { isSound: true, hasMore: header.has_more, answer: { ok: true, document: { ...header.document, pictures } } };
}

type UnpackAnswer = { files: UnpackedFile[] } | { isSound: boolean; answer: Unpacked };

/** `left` is how much may still come: the process has looked at that itself, and is not believed. */
function unpackAnswer(answer: Frame | Broken, left: { files: number; bytes: number }): UnpackAnswer {
  if (typeof answer === 'string') {
    return { isSound: false, answer: { is: 'broken', code: 'unreadable', message: BROKEN[answer] } };
  }
  const { header, body } = answer;
  if (!isPacked.Check(header)) return unpackAnswer('crashed', left);
  if (!header.ok) return { isSound: true, answer: { is: 'broken', code: header.code, message: header.message } };
  if (header.is !== 'files') return { isSound: true, answer: { is: header.is } };
  left.files -= header.files.length;
  left.bytes -= body.length;
  if (left.files < 0 || left.bytes < 0) {
    const { code, message } = tooMuch();
    return { isSound: false, answer: { is: 'broken', code, message } };
  }
  let at = 0;
  const files = header.files.map(({ name, content }): UnpackedFile => {
    if (typeof content !== 'number') return { ok: false, name, ...content };
    return { ok: true, name, bytes: body.subarray(at, (at += content)) };
  });
  return { files };
}
