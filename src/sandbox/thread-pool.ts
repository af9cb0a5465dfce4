import type { CompileInput } from '../documents/compile-input.ts';
import type { KnownTitle } from '../documents/links/title-names.ts';
import { type PlainReason, renderPlainText } from '../markdown/plain-text.ts';
import type { PageInput, RenderedPage } from '../markdown/render.ts';
import type { CompileOutput, SplitOutput } from './bounded-thread.ts';
import { type BoundedThread, boundedThread, type ThreadRequest, type ThreadResult } from './bounded-thread.ts';

export interface Sandbox {
  /** As `compile`, but a file that is too long for one page is returned in parts, each to be compiled by `compile`. */
  compileOrSplit(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput | SplitOutput>;
  /**
   * Compiles a file to one page in a worker thread; further files are queued. `pages` maps the files and folders of the
   * upload to the paths of their pages; mentions of `titles` become links. Both are sent to a thread once per object,
   * so they must not be changed. Never throws for the content of a file; throws if the sandbox is closed or no thread
   * can be started.
   */
  compile(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput>;
  /** Renders a page. Every text yields a page; throws only as `compile` does. */
  render(page: PageInput): Promise<RenderedPage>;
  /** Ends the threads; pending and running requests fail. */
  close(): Promise<void>;
}

/** A request without `plain`, which is set after a first attempt failed. */
type PendingRequest = ThreadRequest extends infer Each
  ? Each extends ThreadRequest
    ? Omit<Each, 'plain'>
    : never
  : never;

interface Task {
  work: PendingRequest;
  resolve(answer: ThreadResult): void;
  reject(error: unknown): void;
}

/**
 * Opens a pool of worker threads with limits of CPU time (per file or page) and of memory (per thread). Threads start
 * on demand and end after `idleMs`. A text that exceeds a limit, or fails to render, is shown as plain text; in the
 * second case `onError` gets the error.
 */
export function openSandbox(
  options: {
    threads?: number;
    extractMs?: number;
    renderMs?: number;
    memoryMb?: number;
    idleMs?: number;
    nice?: number;
    onError?: (error: Error) => void;
  } = {},
): Sandbox {
  const { threads = 1, extractMs = 10_000, renderMs = 1_000, memoryMb = 512, idleMs = 30_000, nice = 0 } = options;
  const onError = options.onError ?? ((error: Error) => process.emitWarning(error));
  const all = Array.from({ length: threads }, () => boundedThread({ extractMs, renderMs, memoryMb, idleMs, nice }));
  const free = [...all];
  const waiting: Task[] = [];
  let isClosed = false;

  function ask(work: PendingRequest): Promise<ThreadResult> {
    if (isClosed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      waiting.push({ work, resolve, reject });
      next();
    });
  }

  function next(): void {
    if (waiting.length === 0) return;
    const thread = free.pop();
    const task = thread && waiting.shift();
    if (!thread || !task) return;
    resultOf(thread, task.work)
      .then(task.resolve, (error) => task.reject(isClosed ? closed() : error))
      .finally(() => {
        free.push(thread);
        next();
      });
  }

  async function resultOf(thread: BoundedThread, work: PendingRequest): Promise<ThreadResult> {
    const first = await thread.ask({ ...work, plain: '' } as ThreadRequest);
    if (!('failed' in first)) return first;
    if (isClosed) throw closed();
    if (first.failed instanceof Error) onError(first.failed);
    const second = await thread.ask({ ...work, plain: plainReason(first.failed) } as ThreadRequest);
    if (isClosed && 'failed' in second) throw closed();
    return second;
  }

  return {
    async compileOrSplit(file, pages, titles = NO_TITLES) {
      const answer = await ask({ file, pages, titles, isOnePage: false });
      if ('file' in answer) return answer.file;
      return 'split' in answer ? answer.split : UNREADABLE;
    },
    async compile(file, pages, titles = NO_TITLES) {
      const answer = await ask({ file, pages, titles, isOnePage: true });
      return 'file' in answer ? answer.file : UNREADABLE;
    },
    async render(page) {
      const answer = await ask({ page });
      if ('page' in answer) return answer.page;
      // Even plain text failed in the thread, which takes hardly any time and memory, so it is rendered here.
      const plain_reason = 'failed' in answer ? plainReason(answer.failed) : 'failed';
      return { ...renderPlainText(page.markdown), plain_reason, links: [] };
    },
    async close() {
      isClosed = true;
      for (const task of waiting.splice(0)) task.reject(closed());
      await Promise.all(all.map((thread) => thread.end()));
    },
  };
}

const NO_TITLES: readonly KnownTitle[] = [];

const UNREADABLE: CompileOutput = {
  ok: false,
  code: 'unreadable',
  message: 'the file cannot be read within the bounds of time and memory; simplify it or split it, and upload it again',
};

function plainReason(failed: string | Error): PlainReason {
  return typeof failed === 'string' ? (failed as PlainReason) : 'failed';
}

function closed(): Error {
  return new Error('the sandbox is closed');
}
