import { fileURLToPath } from 'node:url';
import { measureRelevance, readCollection } from './relevance.ts';
import { measureSize } from './search-size.ts';
import { measureSpeed } from './search-speed.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures the relevance of search results. Arguments: folders of collections; by default the collection next to the
 * checkout.
 */
const CRANFIELD = fileURLToPath(new URL('../../shared/corpora/search/cranfield', import.meta.url));
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
/** `--speed=1000,10000`: measures speed in wikis of these sizes instead. */
const sizes = numbersOf('--speed');
/** `--size=10000`: measures the size of the index and the cost of edits instead. */
const filled = numbersOf('--size');

const { dataDir, service, api, newWiki, stop } = await startBench();
try {
  for (const size of sizes ?? []) await measureSpeed(service, dataDir, api, await newWiki(), size);
  for (const size of filled ?? []) await measureSize(service, dataDir, api, await newWiki(), size);
  for (const path of sizes || filled ? [] : folders.length > 0 ? folders : [CRANFIELD]) {
    const wiki_id = await newWiki();
    const { queries, ndcg10, recall100, empty } = await measureRelevance(api, wiki_id, readCollection(path));
    console.log(
      `${path}: ${queries} queries, nDCG@10 ${ndcg10.toFixed(4)}, Recall@100 ${recall100.toFixed(4)}, ${empty} without results`,
    );
  }
} finally {
  await stop();
}

function numbersOf(option: string): number[] | undefined {
  return process.argv
    .find((argument) => argument.startsWith(`${option}=`))
    ?.split('=')[1]
    ?.split(',')
    .map(Number);
}
