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
export type Question =
  | {
      file: CompileInput;
      pages: ReadonlyMap<string, string>;
      titles: readonly KnownTitle[];
      isOnePage: boolean;
      plain: PlainReason;
    }
  | { page: PageInput; plain: PlainReason };

/** The result of a request. `failed`: the limit that was exceeded, or an unexpected error. */
export type Answer =
  | { file: CompileOutput }
  | { divided: SplitOutput }
  | { page: RenderedPage }
  | { failed: Exclude<PlainReason, '' | 'too_complex' | 'failed'> | Error };

/**
 * A message from a thread: it is ready, it has extracted a text of this length (UTF-16 units) and starts to parse or
 * render it, or the result. `cpu`: the CPU time used so far, undefined where the Node version does not report it.
 */
export type Message = (Answer | { rendering: number } | { ready: true }) & { cpu: NodeJS.CpuUsage | undefined };

interface Bounds {
  /** CPU time to extract the text of a file. */
  extract_ms: number;
  /** CPU time to render a short text; the limit grows with the length of the text. */
  render_ms: number;
  memory_mb: number;
  idle_ms: number;
  /** Added to the thread's nice value: 0 for requests that a user waits for. */
  behind: number;
}

export interface BoundedThread {
  /** Takes one request at a time. Throws only if no thread can be started. */
  ask(question: Question): Promise<Answer>;
  end(): Promise<void>;
}

/**
 * A worker thread with limits of CPU time and memory. It starts with the first request, is replaced after a request
 * that exceeded a limit, and ends after `idleMs` without requests, so that an idle service does not hold its memory.
 */
export function boundedThread(bounds: Bounds): BoundedThread {
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
      workerData: { behind: bounds.behind },
      resourceLimits: { maxOldGenerationSizeMb: bounds.memory_mb, maxYoungGenerationSizeMb: 32 },
    });
    worker = started;
    sentPages = undefined;
    sentTitles = undefined;
    return new Promise((resolve, reject) => {
      started.on('message', (message: Message) => {
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

  function send(asked: Worker, question: Question): void {
    if ('page' in question) return asked.postMessage(question);
    const { file, pages, titles, ...how } = question;
    // A copy: a small Buffer shares its memory with others in Node's pool, and transferring it would take them along.
    const bytes = new Uint8Array(file.bytes);
    const around = { ...(sentPages !== pages && { pages }), ...(sentTitles !== titles && { titles }) };
    asked.postMessage({ file: { ...file, bytes }, ...how, ...around }, [bytes.buffer]);
    sentPages = pages;
    sentTitles = titles;
  }

  return {
    end,
    async ask(question) {
      clearTimeout(idle);
      const asked = worker ?? (await start());
      asked.ref();
      const answer = answerOf(asked, question, bounds, cpu);
      send(asked, question);
      const got = await answer;
      if ('failed' in got) await end();
      else if (worker === asked) {
        asked.unref();
        idle = setTimeout(end, bounds.idle_ms).unref();
      }
      return got;
    },
  };
}

function answerOf(
  worker: Worker,
  question: Question,
  { extract_ms, render_ms }: Bounds,
  cpu: NodeJS.CpuUsage | undefined,
): Promise<Answer> {
  /** A text of 1 MiB that is all lists takes eight seconds. No text may delay the others for longer than that. */
  const renderingTime = (length: number) => Math.min(render_ms * (1 + length / 2 ** 17), 10 * render_ms);
  return new Promise((resolve) => {
    const tooSlow = () => settle({ failed: 'too_slow' });
    const time = 'page' in question ? renderingTime(question.page.markdown.length) : extract_ms;
    let stopClock = onCpuTimeout(worker, time, cpu, tooSlow);
    const onExit = (code: number) => settle({ failed: new Error(`the thread ended by itself with code ${code}`) });
    const onError = (error: Error) => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      settle({ failed: isMemory ? 'out_of_memory' : error });
    };
    function onMessage(message: Message): void {
      if (!('rendering' in message)) return settle(message as Answer);
      stopClock();
      stopClock = onCpuTimeout(worker, renderingTime(message.rendering), message.cpu, tooSlow);
    }
    function settle(answer: Answer): void {
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
