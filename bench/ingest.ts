import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pdfOf } from '../test/pdf.ts';
import { zipOf } from '../test/zip.ts';
import { documentationPages, shortPages } from './corpus.ts';
import { openConnection, type Round, runRound } from './http-load.ts';
import { type Cpu, cpuOf, memoryOf } from './processes.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures uploads: small texts, PDFs, every document of the corpora, ten thousand files in an archive; their effect on
 * page reads, and the memory. `--markdown` stops after the Markdown files.
 */
const PAPERS = 36;
const IN_ARCHIVE = 10_000;
const DOCUMENTS = 300;
const DOCUMENT_BYTES = 12_000;
const CORPORA = new URL('../../shared/corpora/documents/', import.meta.url);
const PAPER = new URL('tracemonkey.pdf', CORPORA);

const { service, api, wiki_id, newWiki, stop } = await startBench();
try {
  const texts = shortPages();
  const count = Object.keys(texts).length;
  await api.upload(wiki_id, { 'first.md': '# The first starts what is started only once\n' });
  const plain = await api.upload(await newWiki(), texts);
  console.log(`${count} small Markdown files: ${rate(count, plain.seconds)} files/s`);
  const packed = await api.upload(await newWiki(), { 'texts.zip': zipOf(Object.entries(texts)) });
  console.log(`the same in a ZIP archive: ${rate(count, packed.seconds)} files/s`);

  await measureDocuments();
  if (!process.argv.includes('--markdown')) await measureTheRest();
} finally {
  await stop();
}

/** Measures Markdown files as long as pages of documentation. */
async function measureDocuments(): Promise<void> {
  const documents = documentationPages({ count: DOCUMENTS, bytes: DOCUMENT_BYTES });
  const kilobytes =
    Object.values(documents).reduce((sum, text) => sum + Buffer.byteLength(text), 0) / DOCUMENTS / 1_000;
  const wiki = await newWiki();
  const beforeDocuments = cpuOf(service.pid);
  const long = await api.upload(wiki, documents);
  console.log(
    `${DOCUMENTS} Markdown files of ${kilobytes.toFixed(1)} KB: ${rate(DOCUMENTS, long.seconds)} files/s, ${cpuSince(beforeDocuments, DOCUMENTS)} a file (aim 12 ms)`,
  );
  const beforeAgain = cpuOf(service.pid);
  await api.upload(wiki, documents);
  const [first, again] = [sumOf(beforeDocuments, beforeAgain), sumOf(beforeAgain, cpuOf(service.pid))];
  console.log(`the same again: ${((100 * again) / first).toFixed(1)} % of the CPU time (aim 3 %)`);
}

/** Measures PDFs, all documents of the corpora, an archive, and page reads during these uploads. */
async function measureTheRest(): Promise<void> {
  const [page] = await api.get(`/v1/wikis/${wiki_id}/pages?limit=1`);
  const request = [
    `GET /v1/wikis/${wiki_id}/pages/${page.page_id} HTTP/1.1`,
    'host: bench',
    `authorization: Bearer ${api.token}`,
    '\r\n',
  ].join('\r\n');
  const read = async (): Promise<Round> => {
    const connection = await openConnection(service.port);
    const round = await runRound(1, 3_000, () => connection.get(request));
    connection.close();
    return round;
  };
  const idle = await read();
  const { name, bytes, pages } = paper();
  // A comment after its end makes each copy a different file.
  const papers = Object.fromEntries(
    Array.from({ length: PAPERS }, (_, i) => [`paper-${i}.pdf`, Buffer.concat([bytes, Buffer.from(`\n%${i}\n`)])]),
  );
  const papersWiki = await newWiki();
  const used = cpuOf(service.pid);
  // This process both sends the files and reads the pages, so start to read only after the files are sent.
  let reading: Promise<{ seconds: number }> | undefined;
  await new Promise<void>((resolve) => {
    reading = api.upload(papersWiki, papers, resolve);
  });
  const busy = await read();
  const { seconds } = (await reading) ?? { seconds: Number.NaN };
  console.log(
    `${PAPERS} times ${name} (${pages} pages): ${rate(PAPERS * pages, seconds)} pages/s, ${cpuSince(used, PAPERS * pages)} a page`,
  );
  console.log(readMeanwhile(busy, idle));

  if (existsSync(CORPORA)) {
    const documentsWiki = await newWiki();
    const memory = watchMemory();
    const ends: { name: string; status: string; seconds: number }[] = [];
    const all = (async () => {
      for (const document of readdirSync(CORPORA)) ends.push(await uploadAnything(documentsWiki, document));
    })();
    const meanwhile = await read();
    await all;
    const slowest = ends.reduce((one, other) => (other.seconds > one.seconds ? other : one));
    const completed = ends.filter(({ status }) => status === 'completed').length;
    console.log(
      `${ends.length} documents of the corpora, one after the other: ${completed} completed, the others failed with a reason; the slowest (${slowest.name}) took ${slowest.seconds.toFixed(1)} s; ${memory.stop()}`,
    );
    console.log(readMeanwhile(meanwhile, idle));
  }

  const many = zipOf(
    Array.from({ length: IN_ARCHIVE }, (_, i) => [
      `n${i % 100}/page-${i}.md`,
      `# Page ${i}\n\nThe text of page ${i}.\n`,
    ]),
  );
  const manyWiki = await newWiki();
  const usedBefore = cpuOf(service.pid);
  const memory = watchMemory();
  const archive = await api.upload(manyWiki, { 'many.zip': many });
  console.log(
    `${IN_ARCHIVE} files in a ZIP archive: ${rate(IN_ARCHIVE, archive.seconds)} files/s, ${cpuSince(usedBefore, IN_ARCHIVE)} a file; ${memory.stop()}`,
  );
}

/** Uploads a document that may fail. Throws an Error if it fails without a reason. */
async function uploadAnything(wiki: string, name: string): Promise<{ name: string; status: string; seconds: number }> {
  const form = new FormData();
  form.append('files', new Blob([readFileSync(new URL(name, CORPORA))]), name);
  const begin = performance.now();
  const { upload_id } = await api.post(`/v1/wikis/${wiki}/uploads`, form);
  for (;;) {
    const { finished_at, status, error } = await api.get(`/v1/wikis/${wiki}/uploads/${upload_id}`);
    if (finished_at) {
      if (status === 'failed' && !error) throw new Error(`${name} failed without a reason`);
      return { name, status, seconds: (performance.now() - begin) / 1000 };
    }
    await delay(25);
  }
}

function watchMemory(): { stop(): string } {
  const before = memoryOf(service.pid).own_pss_mb;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(service.pid).own_pss_mb);
  }, 200);
  return {
    stop() {
      clearInterval(watch);
      return `the service's memory rose from ${Math.round(before)} to at most ${Math.round(most)} MB`;
    },
  };
}

function readMeanwhile(busy: Round, idle: Round): string {
  return `page reads meanwhile: p50 ${ms(busy.p50_ms)}, p99 ${ms(busy.p99_ms)}; before: p50 ${ms(idle.p50_ms)}, p99 ${ms(idle.p99_ms)}`;
}

/** Returns a paper of two columns, if the corpus exists; otherwise a generated PDF with as many pages. */
function paper(): { name: string; bytes: Buffer; pages: number } {
  if (existsSync(PAPER)) return { name: 'tracemonkey.pdf', bytes: readFileSync(PAPER), pages: 14 };
  const line = 'A line of some sixty letters, of which a page has about fifty.';
  const page = Array.from({ length: 50 }, (_, i) => [line, 50, 780 - 14 * i] as const);
  return { name: 'a plain paper', bytes: pdfOf(Array.from({ length: 14 }, () => page)), pages: 14 };
}

/** Formats the CPU time of the service and its child processes since then, per each of `n`. */
function cpuSince({ own_ms, children_ms }: Cpu, n: number): string {
  const now = cpuOf(service.pid);
  const own = (now.own_ms - own_ms) / n;
  const below = (now.children_ms - children_ms) / n;
  return `${(own + below).toFixed(1)} ms of CPU (${own.toFixed(1)} in the service, ${below.toFixed(1)} in its children)`;
}

function sumOf(from: Cpu, to: Cpu): number {
  return to.own_ms + to.children_ms - from.own_ms - from.children_ms;
}

function rate(n: number, seconds: number): string {
  return (n / seconds).toFixed(0);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
