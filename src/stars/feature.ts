import type { Feature } from '../jobs/define-job.ts';
import { listStarredPages } from './list-starred-pages.ts';
import { starPage } from './star-page.ts';
import { unstarPage } from './unstar-page.ts';

export const stars: Feature = { endpoints: [listStarredPages, starPage, unstarPage] };
