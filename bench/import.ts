import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';
import { startImport, zipOfPages } from './import-pages.ts';
import { cpuOf, memoryOf } from './processes.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures how fast a ZIP of Markdown becomes a wiki, a wiki an archive, and the archive a wiki. Argument: the number
 * of pages.
 */
const PAGES = Number(process.argv[2] ?? 10_000);

const { service, api, wiki_id, newWiki, stop } = await startBench();
try {
  const second = await newWiki();
  await measure(
    api,
    wiki_id,
    `import of ${PAGES} Markdown files`,
    await startImport(api, wiki_id, await zipOfPages(PAGES)),
  );
  const made = await api.post(`/v1/wikis/${wiki_id}/exports`);
  await measure(api, wiki_id, 'export', made.job_id);
  const archive = await fetch(`${api.address}/v1/wikis/${wiki_id}/exports/${made.job_id}/content`, {
    headers: { authorization: `Bearer ${api.token}` },
  }).then((answer) => answer.arrayBuffer());
  await measure(api, second, 'import of that archive', await startImport(api, second, Buffer.from(archive)));
  const hits = await api.get(`/v1/wikis/${second}/pages/search?query=${encodeURIComponent('archive')}&limit=1`);
  if (hits.length !== 1) throw new Error('what was imported is not found');
} finally {
  await stop();
}

/** Waits for the job's end; prints its speed, also for each quarter of its progress, and its resource use. */
async function measure(api: Api, wiki_id: string, name: string, job_id: string): Promise<void> {
  const before = { ...cpuOf(service.pid), rss: rss() };
  const began = performance.now();
  const quarters: number[] = [];
  let most = before.rss;
  for (;;) {
    const job = await api.get(`/v1/wikis/${wiki_id}/jobs/${job_id}`);
    most = Math.max(most, rss());
    while (job.progress >= 25 * (quarters.length + 1)) quarters.push(performance.now() - began);
    if (job.finished_at) {
      if (job.status !== 'completed') throw new Error(`${name} failed: ${job.error}`);
      const ms = Date.parse(job.finished_at) - Date.parse(job.started_at);
      const cpu = cpuOf(service.pid);
      const parts = quarters.map((at, i) => `${((at - (quarters[i - 1] ?? 0)) / 1_000).toFixed(1)} s`);
      console.log(
        `${name}: ${(ms / 1_000).toFixed(1)} s, ${Math.round((1_000 * PAGES) / ms)} pages/s; quarters ${parts.join(', ')}; ` +
          `CPU ${((cpu.own_ms - before.own_ms) / 1_000).toFixed(1)} + ${((cpu.children_ms - before.children_ms) / 1_000).toFixed(1)} s; ` +
          `memory ${before.rss} to at most ${most} MiB; ${job.summary}`,
      );
      return;
    }
    await sleep(50);
  }
}

/** Memory of the service's own process, in MiB. */
function rss(): number {
  return Math.round(memoryOf(service.pid).own_pss_mb);
}
