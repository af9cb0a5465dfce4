import { parentPort } from 'node:worker_threads';
import { type CompileInput, compileFile } from './compile-file.ts';
import { ExtractError } from './extract/extract-error.ts';

/** One file at a time; the pages of an upload come once and are kept for the files after it. */
let pages: ReadonlyMap<string, string> = new Map();

parentPort?.on('message', (message: { pages?: ReadonlyMap<string, string>; file: CompileInput }) => {
  if (message.pages) pages = message.pages;
  parentPort?.postMessage(answer(message.file));
});

function answer(file: CompileInput) {
  try {
    return { ok: true, ...compileFile(file, pages) };
  } catch (error) {
    if (error instanceof ExtractError) return { ok: false, code: error.code, message: error.message };
    // A text that is nested too deep overflows the stack: it is shown as plain text instead.
    return { ok: false, code: 'too_complex', message: String(error).slice(0, 200) };
  }
}
