import type { Feature } from '../jobs/define-job.ts';
import { getUsage } from './get-usage.ts';
import { mergeUsage } from './merge-usage.job.ts';
import { recountUsage } from './recount-usage.job.ts';

export const usage: Feature = { endpoints: [getUsage], jobs: [mergeUsage, recountUsage] };
