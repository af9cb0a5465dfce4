import type { SplitFile } from '@ibid/documents/compile-file.ts';
import type { CompileInput } from '@ibid/documents/compile-input.ts';
import type { KnownTitle } from '@ibid/documents/links/title-names.ts';
import { type PageInput, plainPage, type RenderedPage } from '@ibid/markdown/render.ts';
import { traced } from '../core/tracing.ts';
import { NICE } from './priority.ts';
import { type Cost, openProcessPool, type ProcessPool, type Task } from './process-pool.ts';
import { openRenderingLimits, type Requester } from './rendering/limits.ts';
import type { Surroundings, Work } from './rendering/messages.ts';
import type { SentFile } from './rendering/responses.ts';
import { openWork, type Result } from './rendering/run-work.ts';
import { openRenderingStats, type RenderingStats } from './rendering/stats.ts';
import { V8 } from './v8-options.ts';

export type CompileOutput = ({ ok: true } & SentFile) | { ok: false; code: string; message: string };

/** A file that is too long for one page, split into pages. */
export type SplitOutput = { ok: true } & SplitFile;

/** Renders and compiles for one workspace, which takes turns with the others. */
export interface Sandbox {
  /** As `compile`, but splits a file that is too long for one page into parts, each to be compiled by `compile`. */
  compileOrSplit(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput | SplitOutput>;
  /**
   * Compiles a file to one page. `pages` maps the files and folders of the upload to the paths of their pages; mentions
   * of `titles` become links. Both are sent to a process once per object, so they must not be modified. Never throws
   * because of the content of a file; throws if the sandbox is closed or no process can be started.
   */
  compile(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput>;
  /** Renders a page. Every text yields a page; throws only in the cases in which `compile` throws. */
  render(page: PageInput): Promise<RenderedPage>;
}

/**
 * Renders a page for a request that waits for it. Throws 429 if the workspace, the user or the service has too many
 * requests pending or has used up the CPU time; throws the signal's reason if it is aborted.
 */
export type RenderPage = (page: PageInput, requester: Requester, signal?: AbortSignal) => Promise<RenderedPage>;

/**
 * Compiles and renders for a request that waits for the result. The cost counts as a preview; `bytes` is the size of
 * the input. Throws 429 in the same cases as RenderPage.
 */
export type WithinShares = <T>(
  requester: Requester,
  bytes: number,
  work: (sandbox: Sandbox) => Promise<T>,
) => Promise<T>;

export interface SandboxPool {
  /**
   * Returns the sandbox for a workspace's uploads and imports, whose files take turns with the files of other
   * workspaces.
   */
  of(workspace_id: string): Sandbox;
  /** Renders for the requests of all workspaces. */
  renderPage: RenderPage;
  withinShares: WithinShares;
  stats: RenderingStats;
  /** Fails queued work with 503. Running work continues. */
  refuseWaiting(): void;
  /** Ends the processes; queued and running work fails. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  processes?: number;
  /** Processes that one workspace may use at the same time. */
  perWorkspace?: number;
  /** CPU time to extract the text of a file. */
  extractMs?: number;
  /** CPU time to render a short text; the limit grows with the length of the text. */
  renderMs?: number;
  memoryMb?: number;
  /** A process that is larger than this (in MiB) after a text is replaced. */
  maxKeptMb?: number;
  idleMs?: number;
  /** One of `NICE`. */
  nice?: number;
  /** One of `V8`. */
  v8?: readonly string[];
  /** Requests after which a process is replaced. */
  maxRequests?: number;
  limits?: Parameters<typeof openRenderingLimits>[0];
  /** Counters to add to; by default new ones. */
  stats?: RenderingStats;
  /** Called with an unexpected error of rendering. */
  onError?: (error: Error) => void;
}

/** Files of one upload that are compiled in a row while a file of another workspace waits. */
const CONSECUTIVE = 5;

/** Maximum size of a rendered page or compiled file: ten times the limit for the Markdown of a page. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** A process that renders pages of usual length has 80 to 160 MiB; after a page of 1 MiB it keeps twice as much. */
const MAX_KEPT_MB = 192;

const RANKS = { save: 0, preview: 1 };

/**
 * Opens a pool of confined processes that render Markdown and compile files, with limits of CPU time per text and of
 * memory per process, and a fair queue of workspaces. A text that exceeds a limit or fails to render is shown as plain
 * text; if it failed to render, `onError` gets the error.
 */
export function openSandbox(options: SandboxOptions = {}): SandboxPool {
  const pool = openRenderingProcesses(options);
  const limits = openRenderingLimits(options.limits);
  const stats = options.stats ?? openRenderingStats();
  const { renderIn, sandboxOf } = openTurns(pool, stats, options);
  return {
    stats,
    of: (workspace_id) => sandboxOf(workspace_id, 'upload', { onDone: (cost) => stats.record('upload', cost) }),
    async withinShares(requester, bytes, work) {
      const { assertTimeLeft, leave } = limits.enter(requester, bytes);
      let usedMs = 0;
      const onDone = (cost: Cost) => {
        usedMs += cost.usedMs;
        stats.record('preview', cost);
      };
      try {
        return await work(sandboxOf(requester.workspace_id, 'preview', { assertTimeLeft, onDone }));
      } finally {
        leave(usedMs);
      }
    },
    async renderPage(page, requester, signal) {
      const { kind, workspace_id } = requester;
      const entry = limits.enter(requester, Buffer.byteLength(page.markdown));
      let usedMs = 0;
      const onDone = (cost: Cost) => {
        usedMs = cost.usedMs;
        stats.record(kind, cost);
      };
      // A save that has started is completed even if its client disconnects.
      const isAbandonable = kind === 'preview';
      const task = { owner: workspace_id, context: '', rank: RANKS[kind], isAbandonable, ...(signal && { signal }) };
      try {
        return await stats.waiting(kind, renderIn(task, page, { assertTimeLeft: entry.assertTimeLeft, onDone }));
      } finally {
        entry.leave(usedMs);
      }
    },
    refuseWaiting: pool.refuseWaiting,
    close: pool.close,
  };
}

function openRenderingProcesses(options: SandboxOptions): ProcessPool {
  const { processes = 1, perWorkspace = processes, memoryMb = 256, maxKeptMb = MAX_KEPT_MB } = options;
  const { idleMs = 30_000, nice = NICE.requests, v8 = V8.requests, maxRequests = 5_000 } = options;
  return openProcessPool({
    processes,
    perOwner: perWorkspace,
    consecutive: CONSECUTIVE,
    isPrivate: false,
    maxRequests,
    maxKeptMb,
    idleMs,
    program: {
      name: 'rendering',
      memoryMb,
      cpuTimeSeconds: 1_200,
      v8,
      nice,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      elapsedTimeFactor: 60,
    },
  });
}

/** Queues work for a process of the pool. */
function openTurns(pool: ProcessPool, stats: RenderingStats, options: SandboxOptions) {
  const { renderMs = 1_000, extractMs = 10_000 } = options;
  const onError = options.onError ?? ((error: Error) => process.emitWarning(error));
  const runWork = openWork(pool, { renderMs, extractMs, onError });

  function inTurn(task: Task, work: Work, { assertTimeLeft, onDone }: Accounting): Promise<Result> {
    return traced('render', 'internal', {}, (span) =>
      pool.withProcess(
        task,
        async (lease) => {
          assertTimeLeft?.();
          return runWork(lease, work, task.isAbandonable ? task.signal : undefined);
        },
        (cost) => {
          span?.set({ 'ibid.waited_ms': cost.waitedMs, 'ibid.cpu_ms': cost.usedMs });
          onDone(cost);
        },
      ),
    );
  }

  async function renderIn(task: Task, page: PageInput, accounting: Accounting): Promise<RenderedPage> {
    const result = await inTurn(task, { page }, accounting);
    if (typeof result !== 'string' && result.is === 'page') return result.page;
    // Even plain text failed in the process. It takes hardly any time and memory, so it is rendered here.
    return plainPage(page.markdown, typeof result === 'string' ? result : 'failed');
  }

  function sandboxOf(workspace_id: string, kind: 'upload' | 'preview', accounting: Accounting): Sandbox {
    const taskFor = ({ wiki_id }: { wiki_id: string }): Task => {
      return { owner: workspace_id, context: wiki_id, rank: kind === 'upload' ? 0 : RANKS[kind] };
    };
    const compileIn = async (file: CompileInput, isOnePage: boolean, surroundings: Surroundings) => {
      const work = { file, isOnePage, surroundings };
      return outputOf(await stats.waiting(kind, inTurn(taskFor(file), work, accounting)));
    };
    return {
      compileOrSplit: (file, pages, titles = NO_TITLES) => compileIn(file, false, { pages, titles }),
      async compile(file, pages, titles = NO_TITLES) {
        const output = await compileIn(file, true, { pages, titles });
        return 'parts' in output ? UNREADABLE : output;
      },
      render: (page) => stats.waiting(kind, renderIn(taskFor(page), page, accounting)),
    };
  }

  return { renderIn, sandboxOf };
}

/** Charges work to its requester. */
interface Accounting {
  /** Called when the work gets its process. Throws 429 if the CPU time is used up by then. */
  assertTimeLeft?: () => void;
  onDone: (cost: Cost) => void;
}

const NO_TITLES: readonly KnownTitle[] = [];

const UNREADABLE: CompileOutput = {
  ok: false,
  code: 'unreadable',
  message: 'the file cannot be read within the limits of time and memory; simplify it or split it, and upload it again',
};

function outputOf(result: Result): CompileOutput | SplitOutput {
  if (typeof result === 'string' || result.is === 'page') return UNREADABLE;
  if (result.is === 'refusal') return { ok: false, code: result.code, message: result.message };
  return result.is === 'file' ? { ok: true, ...result.file } : { ok: true, ...result.split };
}
