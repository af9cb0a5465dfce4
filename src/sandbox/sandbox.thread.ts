import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import {
  compileAsPlainText,
  compileFile,
  compileOrSplit,
  compileOrSplitAsPlainText,
} from '../documents/compile-file.ts';
import { ExtractError } from '../documents/formats/extract-error.ts';
import { NO_NAMES, titleNames } from '../documents/links/title-names.ts';
import { renderPlainText } from '../markdown/plain-text.ts';
import { renderPage } from '../markdown/render.ts';
import type { ThreadMessage, ThreadRequest, ThreadResult } from './bounded-thread.ts';

/** Handles one request at a time. The pages of an upload and the titles are sent once and kept for the next files. */
let pages: ReadonlyMap<string, string> = new Map();
let names = NO_NAMES;

lowerPriority(workerData.nice);

parentPort?.on('message', (request: ThreadRequest) => {
  if ('pages' in request) pages = request.pages;
  if ('titles' in request) names = titleNames(request.titles);
  post(answer(request));
});
post({ ready: true });

function post(message: ThreadResult | { rendering: number } | { ready: true }): void {
  // Missing before Node 24.
  const cpu = process.threadCpuUsage?.();
  parentPort?.postMessage({ ...message, cpu } satisfies ThreadMessage);
}

function answer(request: ThreadRequest): ThreadResult {
  const { plain } = request;
  try {
    if ('page' in request) {
      const { page } = request;
      return {
        page: plain === '' ? renderPage(page) : { ...renderPlainText(page.markdown), plain_reason: plain, links: [] },
      };
    }
    const { file, isOnePage } = request;
    const onExtracted = (length: number) => post({ rendering: length });
    if (isOnePage) {
      const compiled = plain === '' ? compileFile(file, pages, onExtracted, names) : compileAsPlainText(file, plain);
      return { file: { ok: true, ...compiled } };
    }
    const made =
      plain === '' ? compileOrSplit(file, pages, onExtracted, names) : compileOrSplitAsPlainText(file, plain);
    return 'parts' in made ? { split: { ok: true, ...made } } : { file: { ok: true, ...made } };
  } catch (error) {
    if (error instanceof ExtractError) return { file: { ok: false, code: error.code, message: error.message } };
    return { failed: error instanceof Error ? error : new Error(String(error)) };
  }
}

function lowerPriority(nice: number): void {
  // On Linux 0 is this thread; elsewhere it is the process, which serves requests.
  if (process.platform !== 'linux' || nice === 0) return;
  try {
    setPriority(0, Math.min(getPriority(0) + nice, 19));
  } catch {
    // Without permission the thread runs at normal priority.
  }
}
