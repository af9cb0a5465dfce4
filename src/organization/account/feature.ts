import type { Feature } from '../../platform/feature.ts';
import { deleteAccount } from './delete-account.ts';
import { exportAccount } from './export/export-account.ts';

/** What a person may do with all that the service has of them. */
export const account: Feature = {
  endpoints: [exportAccount, deleteAccount],
};
