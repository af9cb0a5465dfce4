const NODE_MAJOR = Number(process.versions.node.split('.')[0]);

/**
 * Options of V8 by kind of work. Most are set only from Node.js 24: older versions do not know all of them, and have no
 * Maglev, the next lower compiler, to take the place of TurboFan.
 */
export const V8: Record<'requests' | 'files' | 'documents' | 'jobs', readonly string[]> = {
  /** V8's own limit is twice as high; it costs 30 MB more and saves no CPU time. */
  requests: ['--max-semi-space-size=16'],
  /**
   * V8's own threads, for compilation and garbage collection, used over a third of the CPU time of an upload, mostly
   * for code and objects that are short-lived. In this mode functions are optimized later and on the main thread.
   */
  files: NODE_MAJOR >= 24 ? ['--efficiency-mode', '--max-semi-space-size=16'] : [],
  /**
   * For the process that runs jobs; its young generation has the size of the service's. By default V8 collects the old
   * generation first at some hundred MB and then at a multiple of the live size: after 2,000 files the process uses 130
   * to 220 MB for 25 MB of live objects. With these options it uses 115 to 125 MB.
   */
  jobs: NODE_MAJOR >= 24 ? ['--efficiency-mode', '--initial-old-space-size=32', '--heap-growing-percent=50'] : [],
  /** A process that reads documents is too short-lived for TurboFan to pay off. */
  documents: NODE_MAJOR >= 24 ? ['--no-turbofan'] : [],
};
