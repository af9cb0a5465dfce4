import { Worker } from 'node:worker_threads';
import type { CompileInput, PlainReason } from './compile-file.ts';
import type { Output } from './sandbox.ts';

export interface Question {
  file: CompileInput;
  pages: ReadonlyMap<string, string>;
  /** Why the file is only to be shown as it is; "" to compile it. */
  plain: PlainReason;
}

/** What came of a file; or what it failed of: a bound, or an error that nobody expected. */
export type Answer = Output | { failed: 'too_slow' | 'out_of_memory' | Error };

export interface BoundedThread {
  /** One question at a time. Throws only if no thread can be started. */
  ask(question: Question): Promise<Answer>;
  end(): Promise<void>;
}

/**
 * A thread that is started for its first question, replaced when a question broke a bound, and ended when there was none
 * for `idle_ms`, so that an idle service does not hold its memory.
 */
export function boundedThread(bounds: { timeout_ms: number; memory_mb: number; idle_ms: number }): BoundedThread {
  let worker: Worker | undefined;
  let sent: ReadonlyMap<string, string> | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Promise<Worker> {
    const started = new Worker(new URL('./sandbox.thread.ts', import.meta.url), {
      // What a file could make the thread do, it does without the secrets of the environment.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: bounds.memory_mb, maxYoungGenerationSizeMb: 32 },
    });
    worker = started;
    sent = undefined;
    return new Promise((resolve, reject) => {
      started.once('message', () => resolve(started));
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

  return {
    end,
    async ask({ file, pages, plain }) {
      clearTimeout(idle);
      const asked = worker ?? (await start());
      asked.ref();
      const answer = answerOf(asked, bounds.timeout_ms);
      // The thread gets bytes of its own, and not the whole pool that a small Buffer is part of.
      const bytes = new Uint8Array(file.bytes);
      asked.postMessage({ file: { ...file, bytes }, plain, ...(sent !== pages && { pages }) }, [bytes.buffer]);
      sent = pages;
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

function answerOf(worker: Worker, timeout_ms: number): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle({ failed: 'too_slow' }), timeout_ms);
    const onExit = (code: number) => settle({ failed: new Error(`the thread ended by itself with code ${code}`) });
    const onError = (error: Error) => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      settle({ failed: isMemory ? 'out_of_memory' : error });
    };
    function settle(answer: Answer): void {
      clearTimeout(timer);
      worker.off('message', settle).off('error', onError).off('exit', onExit);
      resolve(answer);
    }
    worker.once('message', settle).once('error', onError).once('exit', onExit);
  });
}
