const NODE_MAJOR = Number(process.versions.node.split('.')[0]);

/**
 * Options of V8 by kind of work. Older versions of Node.js do not know all of them, and have no Maglev, the compiler before
 * TurboFan.
 */
export const V8: Record<'requests' | 'files' | 'documents' | 'jobs', readonly string[]> = {
  /** Twice that, which is V8's own limit, keeps 30 MB more for the same CPU time. */
  requests: ['--max-semi-space-size=16'],
  /**
   * More than a third of the CPU time of rendering an upload was V8's threads, which compile what soon runs fast enough and mark
   * what is garbage soon. In this mode functions are optimized later and on the thread that runs them.
   */
  files: NODE_MAJOR >= 24 ? ['--efficiency-mode', '--max-semi-space-size=16'] : [],
  /**
   * Of the process for jobs; its young generation is that of the service. Unless told, V8 collects the old generation for the first time
   * when it has grown to some hundred MB, and then when it is a multiple of what is used: 130 to 220 MB after 2,000 files, of which 25 are
   * in use. So it takes 115 to 125.
   */
  jobs: NODE_MAJOR >= 24 ? ['--efficiency-mode', '--initial-old-space-size=32', '--heap-growing-percent=50'] : [],
  /** A process that reads documents is too short-lived for TurboFan to pay off. */
  documents: NODE_MAJOR >= 24 ? ['--no-turbofan'] : [],
};
