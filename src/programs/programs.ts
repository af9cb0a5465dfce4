/** Programs that are bundled together: their entry files in `src`, and the folders that they are made of. */
export const PROGRAMS = {
  /** The service, its process for jobs, and the `ibid` command. */
  service: {
    entries: { main: 'run.ts', cli: 'cli/ibid.ts' },
    // bin/start.js has them, too.
    folders: ['src', 'web'],
  },
  /** What runs in confined processes, which can read this bundle and nothing else. */
  confined: {
    entries: { rendering: 'sandbox/rendering/rendering.process.ts', document: 'sandbox/document.process.ts' },
    // bundled-programs.test.ts compares these with what is in the bundle.
    folders: ['src/core', 'src/analysis', 'src/markdown', 'src/documents', 'src/sandbox'],
  },
} as const;

export type ProgramSet = keyof typeof PROGRAMS;
export type ProgramName<Set extends ProgramSet> = keyof (typeof PROGRAMS)[Set]['entries'] & string;
