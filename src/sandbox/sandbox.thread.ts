import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { compileAsIs, compileFile, compileOrSplit, compileOrSplitAsIs } from '../documents/compile-file.ts';
import { ExtractError } from '../documents/formats/extract-error.ts';
import { NO_NAMES, titleNames } from '../documents/links/title-names.ts';
import { renderPlainText } from '../markdown/plain-text.ts';
import { renderPage } from '../markdown/render.ts';
import type { Answer, Message, Question } from './bounded-thread.ts';

/** Handles one request at a time. The pages of an upload and the titles are sent once and kept for the next files. */
let pages: ReadonlyMap<string, string> = new Map();
let names = NO_NAMES;

stepBehind(workerData.behind);

parentPort?.on('message', (question: Question) => {
  if ('pages' in question) pages = question.pages;
  if ('titles' in question) names = titleNames(question.titles);
  tell(answer(question));
});
tell({ ready: true });

function tell(message: Answer | { rendering: number } | { ready: true }): void {
  // Missing before Node 24.
  const cpu = process.threadCpuUsage?.();
  parentPort?.postMessage({ ...message, cpu } satisfies Message);
}

function answer(question: Question): Answer {
  const { plain } = question;
  try {
    if ('page' in question) {
      const { page } = question;
      return {
        page: plain === '' ? renderPage(page) : { ...renderPlainText(page.markdown), plain_reason: plain, links: [] },
      };
    }
    const { file, isOnePage } = question;
    const onExtracted = (length: number) => tell({ rendering: length });
    if (isOnePage) {
      const compiled = plain === '' ? compileFile(file, pages, onExtracted, names) : compileAsIs(file, plain);
      return { file: { ok: true, ...compiled } };
    }
    const made = plain === '' ? compileOrSplit(file, pages, onExtracted, names) : compileOrSplitAsIs(file, plain);
    return 'parts' in made ? { divided: { ok: true, ...made } } : { file: { ok: true, ...made } };
  } catch (error) {
    if (error instanceof ExtractError) return { file: { ok: false, code: error.code, message: error.message } };
    return { failed: error instanceof Error ? error : new Error(String(error)) };
  }
}

function stepBehind(steps: number): void {
  // On Linux 0 is this thread; elsewhere it is the process, which serves requests.
  if (process.platform !== 'linux' || steps === 0) return;
  try {
    setPriority(0, Math.min(getPriority(0) + steps, 19));
  } catch {
    // Without permission the thread runs at normal priority.
  }
}
