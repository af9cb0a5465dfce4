import type { Feature } from '../../platform/feature.ts';
import { getUsage } from './get-usage.ts';
import { mergeUsage } from './merge-usage.job.ts';
import { recountUsage } from './recount-usage.job.ts';
import { usageTables } from './tables.ts';

export const usage: Feature = { endpoints: [getUsage], jobs: [mergeUsage, recountUsage], tables: usageTables };
