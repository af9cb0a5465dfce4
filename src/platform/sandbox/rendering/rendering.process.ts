import { once } from 'node:events';
import {
  compileAsPlainText,
  compileFile,
  compileOrSplit,
  compileOrSplitAsPlainText,
} from '@ibid/documents/compile-file.ts';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import { NO_NAMES, titleNames } from '@ibid/documents/links/title-names.ts';
import { loadNeeded } from '@ibid/markdown/on-demand/load-needed.ts';
import { plainPage, renderPage } from '@ibid/markdown/render.ts';
import { openBlockCache } from '@ibid/markdown/reuse/block-cache.ts';
import { frameOf, framesOf } from '../frames.ts';
import { disableNetwork } from '../no-network.ts';
import {
  errorFrame,
  fileFrame,
  pageFrame,
  partsFrame,
  progressFrame,
  type ReceivedRequest,
  readRequest,
  refusalFrame,
} from './messages.ts';

/** The pages of an upload and the titles of the wiki: sent once, and kept for the next files. */
let pages: ReadonlyMap<string, string> = new Map();
let names = NO_NAMES;
/** Blocks of pages that are edited or previewed. Files are not cached, because each is compiled only once. */
const blocks = openBlockCache();

/**
 * Renders pages and compiles files, one after the other, from stdin to stdout. The parent process sets its permissions.
 */
disableNetwork();
await write(frameOf({ ready: true }));
for await (const frame of framesOf(process.stdin, 2 ** 31)) {
  const request = readRequest(frame);
  if (request.pages) pages = request.pages;
  if (request.titles) names = titleNames(request.titles);
  await loadNeeded(request.page?.markdown ?? request.file?.document?.markdown ?? request.file?.bytes ?? '');
  await write(responseTo(request));
}

function responseTo({ plain, page, file, isOnePage }: ReceivedRequest): Buffer {
  try {
    if (page) {
      return pageFrame(plain === '' ? renderPage(page, blocks) : plainPage(page.markdown, plain));
    }
    if (!file) throw new Error('a request has neither page nor file');
    // Written immediately, because the parser blocks the event loop.
    const onExtracted = (length: number) => void process.stdout.write(progressFrame(length));
    if (isOnePage) {
      return fileFrame(plain === '' ? compileFile(file, pages, onExtracted, names) : compileAsPlainText(file, plain));
    }
    const made =
      plain === '' ? compileOrSplit(file, pages, onExtracted, names) : compileOrSplitAsPlainText(file, plain);
    return 'parts' in made ? partsFrame(made) : fileFrame(made);
  } catch (error) {
    if (error instanceof ExtractError) return refusalFrame(error);
    return errorFrame(error instanceof Error ? error : new Error(String(error)));
  }
}

async function write(frame: Buffer): Promise<void> {
  if (!process.stdout.write(frame)) await once(process.stdout, 'drain');
}
