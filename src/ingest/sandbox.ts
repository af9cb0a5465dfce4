import { type BoundedThread, boundedThread } from './bounded-thread.ts';
import type { CompiledFile, CompileInput } from './compile-file.ts';

export type Output = ({ ok: true } & CompiledFile) | { ok: false; code: string; message: string };

export interface Sandbox {
  /**
   * Compiles one file in a thread apart from the requests; further files wait for their turn. `pages` maps the files and
   * folders of the upload to the paths of their pages; it is sent once for as long as the same map is given, so it must
   * not change. Never throws for what a file holds; throws if the sandbox is closed or no thread can be started.
   */
  run(file: CompileInput, pages: ReadonlyMap<string, string>): Promise<Output>;
  /** Ends the threads; what still waits or runs is refused. */
  close(): Promise<void>;
}

interface Task {
  file: CompileInput;
  pages: ReadonlyMap<string, string>;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/**
 * Threads with bounds of time (per file) and of memory (per thread), started when there is work and ended when there has
 * been none for a while. A file that breaks a bound, or that rendering fails on, is shown as the plain text that it is;
 * `onError` is told of the latter, which is a fault of ours.
 */
export function openSandbox(
  options: {
    threads?: number;
    timeout_ms?: number;
    memory_mb?: number;
    idle_ms?: number;
    onError?: (error: Error) => void;
  } = {},
): Sandbox {
  const { threads = 1, timeout_ms = 10_000, memory_mb = 256, idle_ms = 30_000 } = options;
  const onError = options.onError ?? ((error: Error) => process.emitWarning(error));
  const all = Array.from({ length: threads }, () => boundedThread({ timeout_ms, memory_mb, idle_ms }));
  const free = [...all];
  const waiting: Task[] = [];
  let isClosed = false;

  function next(): void {
    if (waiting.length === 0) return;
    const thread = free.pop();
    const task = thread && waiting.shift();
    if (!thread || !task) return;
    compile(thread, task)
      .then(task.resolve, (error) => task.reject(isClosed ? closed() : error))
      .finally(() => {
        free.push(thread);
        next();
      });
  }

  async function compile(thread: BoundedThread, { file, pages }: Task): Promise<Output> {
    const answer = await thread.ask({ file, pages, plain: '' });
    if ('ok' in answer) return answer;
    if (isClosed) throw closed();
    if (answer.failed instanceof Error) onError(answer.failed);
    const plain = typeof answer.failed === 'string' ? answer.failed : 'failed';
    const second = await thread.ask({ file, pages, plain });
    if ('ok' in second) return second;
    if (isClosed) throw closed();
    return {
      ok: false,
      code: 'unreadable',
      message:
        'the file cannot be read within the bounds of time and memory; simplify it or split it, and upload it again',
    };
  }

  return {
    run(file, pages) {
      if (isClosed) return Promise.reject(closed());
      return new Promise((resolve, reject) => {
        waiting.push({ file, pages, resolve, reject });
        next();
      });
    },
    async close() {
      isClosed = true;
      for (const task of waiting.splice(0)) task.reject(closed());
      await Promise.all(all.map((thread) => thread.end()));
    },
  };
}

function closed(): Error {
  return new Error('the sandbox is closed');
}
