import '../bin/prepare.js';

/** `npm run bench -- NAME [options]`: runs one benchmark. Each reads its own options; `--help` prints them. */
const BENCHES: Record<string, { what: string; run: () => Promise<unknown> }> = {
  reads: { what: 'starts, ingest, each read beside its bare statement, memory', run: () => import('./reads.ts') },
  writes: { what: 'edits, a move of 1,000 pages, the tree', run: () => import('./writes.ts') },
  growth: { what: 'requests in a small service and in large ones', run: () => import('./growth.ts') },
  search: { what: "relevance of results; speed, and the index's size", run: () => import('./search.ts') },
  ingest: { what: 'uploads: Markdown, PDFs, archives', run: () => import('./ingest.ts') },
  isolation: { what: 'what a misbehaving tenant does to another', run: () => import('./isolation.ts') },
  soak: { what: 'hours of mixed load with kills', run: () => import('./soak.ts') },
  fidelity: { what: 'what is read of documents and their tables', run: () => import('./fidelity.ts') },
  '--compare': {
    what: 'REVISION: CPU time of each read and of an edit, here and there',
    run: () => import('./compare.ts'),
  },
};

const [, , name = ''] = process.argv;
const bench = BENCHES[name];
if (bench) {
  process.argv.splice(2, 1);
  await bench.run();
} else {
  const lines = Object.entries(BENCHES).map(([each, { what }]) => `  ${each.padEnd(10)}  ${what}\n`);
  process.stdout.write(`Usage: npm run bench -- NAME [options]\n${lines.join('')}`);
  process.exitCode = name === '--help' ? 0 : 1;
}
