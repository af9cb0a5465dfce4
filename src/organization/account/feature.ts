import type { Feature } from '../../platform/feature.ts';
import { deleteAccount } from './delete-account.ts';
import { exportAccount } from './export/export-account.ts';

/** Lets a person export and delete their own data. */
export const account: Feature = {
  endpoints: [exportAccount, deleteAccount],
};
