import type { Feature } from '../jobs/define-job.ts';
import { listPlans } from './list-plans.ts';
import { previewBilling } from './preview-billing.ts';

export const billing: Feature = {
  endpoints: [listPlans, previewBilling],
};
