import { listAll } from './api.ts';
import { median } from './compare.ts';
import { generatePages } from './corpus.ts';
import { openConnection, runRound } from './http-load.ts';
import { cpuOf } from './processes.ts';
import { measureReading, type ReadingTargets } from './reading.ts';
import { signIn } from './sign-in.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures what a reader waits for: the service's time for a page of a large wiki, how much script each kind of page loads,
 * and in a browser what reading.ts lists. Argument: the number of pages of the wiki.
 */
const PAGES = Number(process.argv[2] ?? 10_000);
const AT_ONCE = 1_000;
const ROUND_MS = 4_000;
const ROUNDS = 5;

interface Listed {
  path: string;
  page_id: string;
  source_count: number;
}

const bench = await startBench();
const { api, service, wiki_id } = bench;
try {
  const { session, wikis } = await api.get('/v1/overview');
  const root = `/${session.organizations[0].slug}/${wikis[0].slug}`;
  for (let from = 0; from < PAGES; from += AT_ONCE) {
    await api.upload(wiki_id, generatePages({ from, count: Math.min(AT_ONCE, PAGES - from), bytes: 4_000 }));
  }
  const more = await api.upload(wiki_id, {
    'more.md': '# More\n\n$x^2$\n\n```mermaid\nflowchart LR\n  A --> B\n```\n',
  });
  const written = await api.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Written', markdown: 'By hand.\n' });
  const all: Listed[] = await listAll(api, `/v1/wikis/${wiki_id}/pages`);
  const pages = all.filter(({ source_count }) => source_count > 0);
  console.log(`A wiki of ${pages.length} pages of 4,000 bytes\n`);
  const cookie = await signIn(bench.dataDir, bench.service.address);
  await measureService(root, pages, cookie);
  await measureScripts(cookie, {
    'a page that people wrote': `${root}/${written.path}`,
    'a page made from a file': `${root}/${pages[0]?.path}`,
    'one with formulas and diagrams': `${root}/more`,
    'its passages': `${root}/more?sources`,
    'the first page of a wiki': root,
    'results of a search': `${root}/-/search?query=word`,
    'the history of a page': `${root}/-/history/more`,
    'the list of sources': `${root}/-/sources`,
    'an upload': `${root}/-/uploads/${more.upload.upload_id}`,
    'the settings': '/me',
    'the editor': `${root}/-/new`,
  });
  await measureReading(await readingTargets(cookie));
} finally {
  await bench.stop();
}

/** A wiki of its own whose first page has as many pages right below it as the other wiki has in all. */
async function readingTargets(cookie: string): Promise<ReadingTargets> {
  const long = await bench.newWiki();
  for (let from = 0; from < PAGES; from += AT_ONCE) {
    const files = generatePages({ from, count: Math.min(AT_ONCE, PAGES - from), bytes: 500 });
    const below = Object.entries(files).map(([name, text]) => [`all/${name.replaceAll('/', '-')}`, text]);
    await api.upload(long, Object.fromEntries(below));
  }
  const names = ['one', 'two', 'three', 'four', 'five'];
  await api.upload(
    long,
    Object.fromEntries(
      names.map((name, i) => [
        `${name}.md`,
        Object.values(generatePages({ from: i, count: 1, bytes: 4_000 }))[0] ?? '',
      ]),
    ),
  );
  const { session, wikis } = await api.get('/v1/overview');
  const slug = wikis.find((it: { wiki_id: string }) => it.wiki_id === long).slug;
  const root = `/${session.organizations[0].slug}/${slug}`;
  return { address: service.address, cookie, paths: names.map((name) => `${root}/${name}`), parent: `${root}/all` };
}

/** Reads pages as HTML, one after the other and eight at once, in turns with the API's answer for the same page. */
async function measureService(root: string, pages: readonly Listed[], cookie: string): Promise<void> {
  const head = (path: string, accept: string) =>
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${service.port}\r\naccept: ${accept}\r\ncookie: ${cookie}\r\nsec-fetch-site: same-origin\r\n\r\n`;
  const kinds = {
    'page as HTML': (i: number) => head(`${root}/${pages[i]?.path}`, 'text/html'),
    'its record by the API': (i: number) => head(`/v1/wikis/${wiki_id}/pages/${pages[i]?.page_id}`, 'application/json'),
  };
  let next = 0;
  for (const width of [1, 8]) {
    const connections = await Promise.all(Array.from({ length: width }, () => openConnection(service.port)));
    const figures = Object.keys(kinds).map((name) => ({
      name,
      p50: [] as number[],
      p99: [] as number[],
      cpu: [] as number[],
    }));
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [k, request] of Object.values(kinds).entries()) {
        const before = cpuOf(service.pid);
        const { p50_ms, p99_ms, requests } = await runRound(width, ROUND_MS / ROUNDS, async (lane) => {
          // A step that visits all pages, in an order unrelated to how they are stored.
          next = (next + 7_919) % pages.length;
          await connections[lane]?.get(request(next));
        });
        const after = cpuOf(service.pid);
        if (round === 0) continue;
        figures[k]?.p50.push(p50_ms);
        figures[k]?.p99.push(p99_ms);
        figures[k]?.cpu.push((after.own_ms + after.children_ms - before.own_ms - before.children_ms) / requests);
      }
    }
    for (const { name, p50, p99, cpu } of figures) {
      console.log(
        `${name}, ${width} at once: p50 ${median(p50).toFixed(1)} ms, p99 ${median(p99).toFixed(1)} ms, CPU ${median(cpu).toFixed(1)} ms`,
      );
    }
    for (const connection of connections) connection.close();
  }
}

/** Compressed sizes of the scripts and styles that a page names; files that it loads later are not included. */
async function measureScripts(cookie: string, addresses: Record<string, string>): Promise<void> {
  console.log('\nScripts and styles (br), kB');
  for (const [name, address] of Object.entries(addresses)) {
    const answer = await fetch(service.address + address, { headers: { accept: 'text/html', cookie } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${address} answers ${answer.status}: ${text.slice(0, 300)}`);
    const sizes = { js: 0, css: 0 };
    for (const [, file = '', kind] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(js|css))"/g)) {
      const { headers } = await fetch(service.address + file, { headers: { 'accept-encoding': 'br' } });
      sizes[kind as 'js' | 'css'] += Number(headers.get('content-length'));
    }
    console.log(
      `${name.padEnd(34)} ${(sizes.js / 1024).toFixed(1).padStart(6)} ${(sizes.css / 1024).toFixed(1).padStart(6)}`,
    );
  }
}
