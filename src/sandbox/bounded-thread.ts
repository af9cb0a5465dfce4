import { Worker } from 'node:worker_threads';
import type { CompiledFile, SplitFile } from '../documents/compile-file.ts';
import type { CompileInput } from '../documents/compile-input.ts';
import type { KnownTitle } from '../documents/links/title-names.ts';
import type { PlainReason } from '../markdown/plain-text.ts';
import type { PageInput, RenderedPage } from '../markdown/render.ts';
import { onCpuTimeout } from './cpu-time.ts';

/**
 * A request to a thread. `plain`: the reason to show the text as plain text; "" to compile or render it. `isOnePage`:
 * compile to one page whatever the length.
 */
export type ThreadRequest =
  | {
      file: CompileInput;
      pages: ReadonlyMap<string, string>;
      titles: readonly KnownTitle[];
      isOnePage: boolean;
      plain: PlainReason;
    }
  | { page: PageInput; plain: PlainReason };

/** The result of a request. `failed`: the limit that was exceeded, or an unexpected error. */
export type ThreadResult =
  | { file: CompileOutput }
  | { split: SplitOutput }
  | { page: RenderedPage }
  | { failed: Exclude<PlainReason, '' | 'too_complex' | 'failed'> | Error };

/**
 * A message from a thread: it is ready, it has extracted a text of this length (UTF-16 units) and starts to parse or
 * render it, or the result. `cpu`: the CPU time used so far, undefined where the Node version does not report it.
 */
export type ThreadMessage = (ThreadResult | { rendering: number } | { ready: true }) & {
  cpu: NodeJS.CpuUsage | undefined;
};

interface ThreadLimits {
  /** CPU time to extract the text of a file. */
  extractMs: number;
  /** CPU time to render a short text; the limit grows with the length of the text. */
  renderMs: number;
  memoryMb: number;
  idleMs: number;
  /** Added to the thread's nice value: 0 for requests that a user waits for. */
  nice: number;
}

export interface BoundedThread {
  /** Takes one request at a time. Throws only if no thread can be started. */
  ask(request: ThreadRequest): Promise<ThreadResult>;
  end(): Promise<void>;
}

/**
 * A worker thread with limits of CPU time and memory. It starts with the first request, is replaced after a request
 * that exceeded a limit, and ends after `idleMs` without requests, so that an idle service does not hold its memory.
 */
export function boundedThread(limits: ThreadLimits): BoundedThread {
  let worker: Worker | undefined;
  let sentPages: ReadonlyMap<string, string> | undefined;
  let sentTitles: readonly KnownTitle[] | undefined;
  /** The CPU time at the thread's last message; it has been idle since then. */
  let cpu: NodeJS.CpuUsage | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Promise<Worker> {
    const started = new Worker(new URL('./sandbox.thread.ts', import.meta.url), {
      // Code that a hostile file might get to run does not see the secrets in the environment.
      env: {},
      workerData: { nice: limits.nice },
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: 32 },
    });
    worker = started;
    sentPages = undefined;
    sentTitles = undefined;
    return new Promise((resolve, reject) => {
      started.on('message', (message: ThreadMessage) => {
        if (worker === started) cpu = message.cpu;
        resolve(started);
      });
      // Without a listener an error would end the process. Each request adds its own listener until it has a result.
      started.on('error', reject);
      started.once('exit', (code) => {
        if (worker === started) worker = undefined;
        reject(new Error(`the thread ended by itself with code ${code}`));
      });
    });
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  }

  function send(thread: Worker, request: ThreadRequest): void {
    if ('page' in request) return thread.postMessage(request);
    const { file, pages, titles, ...how } = request;
    // A copy: a small Buffer shares its memory with others in Node's pool, and transferring it would take them along.
    const bytes = new Uint8Array(file.bytes);
    const around = { ...(sentPages !== pages && { pages }), ...(sentTitles !== titles && { titles }) };
    thread.postMessage({ file: { ...file, bytes }, ...how, ...around }, [bytes.buffer]);
    sentPages = pages;
    sentTitles = titles;
  }

  return {
    end,
    async ask(request) {
      clearTimeout(idle);
      const thread = worker ?? (await start());
      thread.ref();
      const answer = resultOf(thread, request, limits, cpu);
      send(thread, request);
      const got = await answer;
      if ('failed' in got) await end();
      else if (worker === thread) {
        thread.unref();
        idle = setTimeout(end, limits.idleMs).unref();
      }
      return got;
    },
  };
}

function resultOf(
  worker: Worker,
  request: ThreadRequest,
  { extractMs, renderMs }: ThreadLimits,
  cpu: NodeJS.CpuUsage | undefined,
): Promise<ThreadResult> {
  /** A text of 1 MiB that is all lists takes eight seconds. No text may delay the others for longer than that. */
  const renderTimeLimitMs = (length: number) => Math.min(renderMs * (1 + length / 2 ** 17), 10 * renderMs);
  return new Promise((resolve) => {
    const tooSlow = () => settle({ failed: 'too_slow' });
    const time = 'page' in request ? renderTimeLimitMs(request.page.markdown.length) : extractMs;
    let stopClock = onCpuTimeout(worker, time, cpu, tooSlow);
    const onExit = (code: number) => settle({ failed: new Error(`the thread ended by itself with code ${code}`) });
    const onError = (error: Error) => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      settle({ failed: isMemory ? 'out_of_memory' : error });
    };
    function onMessage(message: ThreadMessage): void {
      if (!('rendering' in message)) return settle(message as ThreadResult);
      stopClock();
      stopClock = onCpuTimeout(worker, renderTimeLimitMs(message.rendering), message.cpu, tooSlow);
    }
    function settle(answer: ThreadResult): void {
      stopClock();
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      resolve(answer);
    }
    worker.on('message', onMessage).once('error', onError).once('exit', onExit);
  });
}

export type CompileOutput = ({ ok: true } & CompiledFile) | { ok: false; code: string; message: string };

/** A file that is too long for one page, split into pages. */
export type SplitOutput = { ok: true } & SplitFile;
