import type { Feature } from '../../platform/feature.ts';
import { listStarredPages } from './list-starred-pages.ts';
import { starPage } from './star-page.ts';
import { starTables } from './tables.ts';
import { unstarPage } from './unstar-page.ts';

export const stars: Feature = { endpoints: [listStarredPages, starPage, unstarPage], tables: starTables };
