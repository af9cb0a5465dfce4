import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApi } from './api.ts';
import { measureRelevance, readCollection } from './relevance.ts';
import { measureSpeed } from './search-speed.ts';
import { makeKeyFor, startServiceProcess } from './service-process.ts';

/** How good searches are. Arguments: folders of collections; without one, the one beside the checkout. */
const CRANFIELD = fileURLToPath(new URL('../../shared/corpora/search/cranfield', import.meta.url));
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
/** `--speed=1000,10000`: what they cost in wikis of so many pages, instead. */
const sizes = process.argv
  .find((argument) => argument.startsWith('--speed'))
  ?.split('=')[1]
  ?.split(',')
  .map(Number);

const folder = await mkdtemp(join(tmpdir(), 'ibid-bench-search-'));
const data_dir = join(folder, 'data');
const service = await startServiceProcess(data_dir);
try {
  const api = openApi(service.address, await makeKeyFor(data_dir, 'bench@example.com'));
  const { workspace } = await api.post('/v1/onboarding');
  const newWiki = async (): Promise<string> =>
    (await api.post(`/v1/workspaces/${workspace.workspace_id}/wikis`, { title: 'Bench' })).wiki_id;
  for (const size of sizes ?? []) await measureSpeed(service, data_dir, api, await newWiki(), size);
  for (const path of sizes ? [] : folders.length > 0 ? folders : [CRANFIELD]) {
    const wiki_id = await newWiki();
    const { queries, ndcg10, recall100, empty } = await measureRelevance(api, wiki_id, readCollection(path));
    console.log(
      `${path}: ${queries} queries, nDCG@10 ${ndcg10.toFixed(4)}, Recall@100 ${recall100.toFixed(4)}, ${empty} found nothing`,
    );
  }
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
