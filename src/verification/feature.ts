import type { Feature } from '../jobs/define-job.ts';
import { verifySource } from './verify-source.ts';

export const verification: Feature = { endpoints: [verifySource] };
