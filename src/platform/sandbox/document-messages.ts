import type { ExtractedDocument } from '@ibid/documents/formats/extracted.ts';
import { DOCUMENT_KINDS } from '@ibid/documents/formats/kinds.ts';
import { type Loss, lostText } from '@ibid/documents/formats/losses.ts';
import { archiveTooLarge, LEFT_OUT_NAMED, type LeftOut, NAME_MAX } from '@ibid/documents/formats/zip/unpack.ts';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Boxes } from './box-messages.ts';
import type { ProcessFailure } from './confined-process.ts';
import type { Frame } from './frames.ts';
import { FileCharacters, Losses } from './loss-messages.ts';

export type ReadDocument =
  | { ok: true; document: ExtractedDocument }
  | {
      ok: false;
      code: string;
      message: string;
      /** Whether reading hit a limit of time or memory, which another attempt with the same file may not hit. */
      isLimited?: boolean;
    };

/** A file of an archive, or why it cannot be read. `name` is the name in the archive. */
export type UnpackedFile = { name: string } & (
  | { ok: true; bytes: Buffer }
  | { ok: false; code: string; message: string }
);

export type Unpacked =
  | { is: 'archive'; left_out: LeftOut }
  | { is: 'document' }
  | { is: 'broken'; code: string; message: string };

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
      lines: Type.Optional(
        Type.Array(
          Type.Object({
            at: Type.Integer({ minimum: 1 }),
            line: Type.Integer({ minimum: 0 }),
            height: Type.Integer({ minimum: 0 }),
          }),
        ),
      ),
      losses: Losses,
      file_characters: Type.Optional(FileCharacters),
      rest: Type.Optional(Type.String()),
    }),
    pictures: Type.Array(Type.Object({ name: Type.String(), byte_size: Type.Integer({ minimum: 0 }) })),
    /**
     * Whether a second frame follows: the whole document again, with its pictures and with tables corrected by drawn
     * lines. The first frame already has the text, in case reading the rest exceeds a limit.
     */
    has_more: Type.Boolean(),
  }),
  Type.Object({ ok: Type.Literal(false), code: Type.String(), message: Type.String() }),
]);
export type ReadResponse = Static<typeof ReadResponse>;

const Refusal = Type.Object({ code: Type.String(), message: Type.String() });

/** The valid responses to `unpack`: batches of files, then the end. Any other response is treated as a crash. */
export const UnpackResponse = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    is: Type.Literal('files'),
    files: Type.Array(
      Type.Object({
        name: Type.String(),
        /** Size of the file in the body, or why it cannot be read. */
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

/** Compiled, because a long document has thousands of blocks and the validation blocks the event loop. */
const isReadResponse = Compile(ReadResponse);
const isUnpackResponse = Compile(UnpackResponse);

const FAILURE_MESSAGES: Record<ProcessFailure, string> = {
  crashed: 'the file could not be read; save it again, or upload its text',
  too_slow: 'the file takes too long to read; split it, and upload its parts',
  out_of_memory: 'the file takes too much memory to read; split it, and upload its parts',
  too_long: 'the file is too large for a page; split it, and upload its parts',
};

/** Validates a response to `read`. If `isSound` is false, the process must be replaced. */
export function parseReadResponse(answer: Frame | ProcessFailure): {
  isSound: boolean;
  hasMore: boolean;
  answer: ReadDocument;
} {
  if (typeof answer === 'string') {
    return {
      isSound: false,
      hasMore: false,
      answer: {
        ok: false,
        code: 'unreadable',
        message: FAILURE_MESSAGES[answer],
        isLimited: answer === 'too_slow' || answer === 'out_of_memory',
      },
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

const LIMIT = 'all pictures: reading them takes more than a document may';

/**
 * Returns whether the losses say that the pictures and the table lines of the document were skipped because of a limit.
 */
export function isReadUnderLimit(losses: readonly Loss[]): boolean {
  return losses.some(({ kind, place }) => kind === 'picture' && place === LIMIT);
}

/**
 * Adds a loss to a document whose pictures exceeded a limit. It comes first, because a long list of losses is
 * truncated.
 */
export function withoutMore(answer: ReadDocument): ReadDocument {
  if (!answer.ok) return answer;
  const { losses = [] } = answer.document;
  return { ok: true, document: { ...answer.document, losses: [lostText('picture', '', LIMIT), ...losses] } };
}

export type UnpackProgress = { files: UnpackedFile[] } | { isSound: boolean; answer: Unpacked };

/**
 * Validates a response to `unpack` and subtracts its files from `left`, the remaining allowance. The process checks the
 * same limits, but its output is not trusted.
 */
export function parseUnpackResponse(
  answer: Frame | ProcessFailure,
  left: { files: number; bytes: number },
): UnpackProgress {
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
