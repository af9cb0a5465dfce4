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

/** Renders and compiles for one workspace, in its turn. */
export interface Sandbox {
  /** As `compile`, but a file that is too long for one page is returned in parts, each to be compiled by `compile`. */
  compileOrSplit(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput | SplitOutput>;
  /**
   * Compiles a file to one page. `pages` maps the files and folders of the upload to the paths of their pages; mentions
   * of `titles` become links. Both are sent to a process once per object, so they must not be changed. Never throws for
   * the content of a file; throws if the sandbox is closed or no process can be started.
   */
  compile(
    file: CompileInput,
    pages: ReadonlyMap<string, string>,
    titles?: readonly KnownTitle[],
  ): Promise<CompileOutput>;
  /** Renders a page. Every text yields a page; throws only as `compile` does. */
  render(page: PageInput): Promise<RenderedPage>;
}

/**
 * Renders a page for a request that waits for it. Errors: 429 where its workspace or its user have too much waiting or
 * used too much CPU time; the signal's reason when it is aborted.
 */
export type RenderPage = (page: PageInput, requester: Requester, signal?: AbortSignal) => Promise<RenderedPage>;

/**
 * Runs work that compiles and renders for a request that waits for it, as a preview does. `bytes` is the size of what it is
 * about. Errors: 429 as for RenderPage.
 */
export type WithinShares = <T>(
  requester: Requester,
  bytes: number,
  work: (sandbox: Sandbox) => Promise<T>,
) => Promise<T>;

export interface SandboxPool {
  /** For the files of a workspace's uploads and imports, which wait in turns with those of other workspaces. */
  of(workspace_id: string): Sandbox;
  /** For the requests of all workspaces. */
  renderPage: RenderPage;
  withinShares: WithinShares;
  stats: RenderingStats;
  /** Fails what waits for its turn with 503; what has begun goes on. */
  refuseWaiting(): void;
  /** Ends the processes; pending and running work fails. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  processes?: number;
  /** How many processes one workspace may occupy at a time. */
  perWorkspace?: number;
  /** CPU time to extract the text of a file. */
  extractMs?: number;
  /** CPU time to render a short text; the limit grows with the length of the text. */
  renderMs?: number;
  memoryMb?: number;
  /** A process that has grown beyond this many MiB is replaced after its text. */
  maxKeptMb?: number;
  idleMs?: number;
  /** Of `NICE`. */
  nice?: number;
  /** Of `V8`. */
  v8?: readonly string[];
  /** A process is replaced after this many texts. */
  maxRequests?: number;
  limits?: Parameters<typeof openRenderingLimits>[0];
  /** Where to count what it does. */
  stats?: RenderingStats;
  /** Called with an unexpected error of rendering. */
  onError?: (error: Error) => void;
}

/** How many files of one upload are compiled before a waiting file of another workspace. */
const CONSECUTIVE = 5;

/** What a rendered page or a compiled file may have at most: ten times what a page's Markdown may. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** A process that renders pages of usual length has 80 to 160 MiB; one of 1 MiB leaves twice that behind. */
const MAX_KEPT_MB = 192;

const RANKS = { save: 0, preview: 1 };

/**
 * Opens a pool of confined processes that render Markdown and compile files, with limits of CPU time (per text) and of
 * memory (per process), fair by workspace. A text that exceeds a limit, or fails to render, is shown as plain text; in
 * the second case `onError` gets the error.
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
      // A save that has begun is written, whether its client waits or not.
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

/** Work that waits for its turn in the pool. */
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
    // Even plain text failed in the process, which takes hardly any time and memory, so it is rendered here.
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

/** Whom the time of some work counts for. */
interface Accounting {
  /** Called when its turn has come. Errors: 429 if there is no time left for it. */
  assertTimeLeft?: () => void;
  onDone: (cost: Cost) => void;
}

const NO_TITLES: readonly KnownTitle[] = [];

const UNREADABLE: CompileOutput = {
  ok: false,
  code: 'unreadable',
  message: 'the file cannot be read within the bounds of time and memory; simplify it or split it, and upload it again',
};

function outputOf(result: Result): CompileOutput | SplitOutput {
  if (typeof result === 'string' || result.is === 'page') return UNREADABLE;
  if (result.is === 'refusal') return { ok: false, code: result.code, message: result.message };
  return result.is === 'file' ? { ok: true, ...result.file } : { ok: true, ...result.split };
}
