import { Worker } from 'node:worker_threads';
import { renderPlainText } from '../pages/plain-text.ts';
import { type CompiledFile, type CompileInput, titleFromFilename } from './compile-file.ts';
import { decodeText } from './extract/decode.ts';

export type Output = ({ ok: true } & CompiledFile) | { ok: false; code: string; message: string };

export interface Sandbox {
  /**
   * Compiles one file in a thread of its own, apart from the requests. `pages` maps the files of the upload to the paths
   * of their pages; it is sent once for as long as the same map is given. Never throws for what a file holds.
   */
  run(file: CompileInput, pages: ReadonlyMap<string, string>): Promise<Output>;
  close(): Promise<void>;
}

/**
 * A thread that is started when it is needed and ended when it has been idle, with bounds of time and memory. A file
 * that breaks the bounds ends the thread and is shown as plain text.
 */
export function openSandbox(options: { timeout_ms?: number; memory_mb?: number; idle_ms?: number } = {}): Sandbox {
  const { timeout_ms = 5_000, memory_mb = 256, idle_ms = 10_000 } = options;
  let thread: Worker | undefined;
  let sent: ReadonlyMap<string, string> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    const ending = thread;
    thread = undefined;
    sent = undefined;
    await ending?.terminate();
  }

  async function compile(file: CompileInput, pages: ReadonlyMap<string, string>): Promise<Output> {
    clearTimeout(idle);
    const worker = (thread ??= startThread(memory_mb));
    const answer = await new Promise<Output | undefined>((resolve) => {
      const fail = () => settle(undefined);
      const settle = (output: Output | undefined) => {
        clearTimeout(timer);
        worker.off('message', settle).off('error', fail).off('exit', fail);
        resolve(output);
      };
      const timer = setTimeout(fail, timeout_ms);
      worker.on('message', settle).on('error', fail).on('exit', fail);
      worker.postMessage({ file, ...(sent !== pages && { pages }) });
    });
    sent = pages;
    // Out of time, out of memory or gone: whatever is left of the thread is not used again.
    if (answer === undefined) await end();
    else idle = setTimeout(end, idle_ms).unref();
    if (answer?.ok === false && answer.code !== 'too_complex') return answer;
    return answer?.ok ? answer : asPlainText(file);
  }

  return {
    run(file, pages) {
      const result = queue.then(() => compile(file, pages));
      queue = result;
      return result;
    },
    async close() {
      clearTimeout(idle);
      await queue;
      await end();
    },
  };
}

function startThread(memory_mb: number): Worker {
  const thread = new Worker(new URL('./sandbox.thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memory_mb, stackSizeMb: 4 },
  });
  // A thread that dies between two files has no file to answer for; the next one finds it gone and starts another.
  thread.on('error', () => undefined);
  return thread;
}

function asPlainText(file: CompileInput): Output {
  try {
    const markdown = decodeText(file.bytes);
    const title = titleFromFilename(file.filename);
    return { ok: true, ...renderPlainText(markdown), title, content_type: 'text/plain', markdown, links: [] };
  } catch {
    return {
      ok: false,
      code: 'unreadable',
      message: 'the file could not be read within its limits; simplify it or split it',
    };
  }
}
