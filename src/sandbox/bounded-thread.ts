import { Worker } from 'node:worker_threads';
import type { CompiledFile, SplitFile } from '../documents/compile-file.ts';
import type { CompileInput } from '../documents/compile-input.ts';
import type { KnownTitle } from '../documents/links/title-names.ts';
import type { PlainReason } from '../markdown/plain-text.ts';
import type { PageInput, RenderedPage } from '../markdown/render.ts';
import { onCpuTimeout } from './cpu-time.ts';

/**
 * `plain` says why the text is only to be shown as it is; "" to compile or render it. `isOnePage`: however long it is.
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

/** What came of a question; or what it failed of: a bound, or an error that nobody expected. */
export type Answer =
  | { file: CompileOutput }
  | { divided: SplitOutput }
  | { page: RenderedPage }
  | { failed: Exclude<PlainReason, '' | 'too_complex' | 'failed'> | Error };

/**
 * What a thread says: that it is ready, that a file was read and a text of this length in UTF-16 units is about to be parsed or
 * rendered, or its answer; and how long it has computed until then, where its Node can tell.
 */
export type Message = (Answer | { rendering: number } | { ready: true }) & { cpu: NodeJS.CpuUsage | undefined };

interface Bounds {
  /** For reading a file. */
  extract_ms: number;
  /** For rendering a short text; longer ones have more, in proportion. */
  render_ms: number;
  memory_mb: number;
  idle_ms: number;
  /** How much less urgent than the service it is: 0 where somebody waits for the answer. */
  behind: number;
}

export interface BoundedThread {
  /** One question at a time. Throws only if no thread can be started. */
  ask(question: Question): Promise<Answer>;
  end(): Promise<void>;
}

/**
 * A thread that is started for its first question, replaced when a question broke a bound, and ended when there was none
 * for `idle_ms`, so that an idle service does not hold its memory. Times are those that the thread computes for.
 */
export function boundedThread(bounds: Bounds): BoundedThread {
  let worker: Worker | undefined;
  let sentPages: ReadonlyMap<string, string> | undefined;
  let sentTitles: readonly KnownTitle[] | undefined;
  /** What the thread had computed when it was last heard of; since then it waits. */
  let cpu: NodeJS.CpuUsage | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Promise<Worker> {
    const started = new Worker(new URL('./sandbox.thread.ts', import.meta.url), {
      // What a file could make the thread do, it does without the secrets of the environment.
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
      // Without a listener an error would end the process. Whoever asks listens too, until there is an answer.
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
    // The thread gets bytes of its own, and not the whole pool that a small Buffer is part of.
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
  /** A text of a mebibyte takes eight seconds when it is all lists, and no text may hold up the others for longer. */
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

/** A file that is too long for one page, and what its pages are made of. */
export type SplitOutput = { ok: true } & SplitFile;
