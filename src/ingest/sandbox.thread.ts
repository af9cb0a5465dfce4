import { parentPort } from 'node:worker_threads';
import type { Answer } from './bounded-thread.ts';
import { type CompileInput, compileAsIs, compileFile, type PlainReason } from './compile-file.ts';
import { ExtractError } from './extract/extract-error.ts';

/** One file at a time; the pages of an upload come once and are kept for the files after it. */
let pages: ReadonlyMap<string, string> = new Map();

parentPort?.on(
  'message',
  (message: { file: CompileInput; pages?: ReadonlyMap<string, string>; plain: PlainReason }) => {
    if (message.pages) pages = message.pages;
    parentPort?.postMessage(answer(message.file, message.plain));
  },
);
parentPort?.postMessage('ready');

function answer(file: CompileInput, plain: PlainReason): Answer {
  try {
    return { ok: true, ...(plain === '' ? compileFile(file, pages) : compileAsIs(file, plain)) };
  } catch (error) {
    if (error instanceof ExtractError) return { ok: false, code: error.code, message: error.message };
    return { failed: error instanceof Error ? error : new Error(String(error)) };
  }
}
