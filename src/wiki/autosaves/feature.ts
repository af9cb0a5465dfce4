import type { Feature } from '../../platform/feature.ts';
import { deleteAutosave } from './delete-autosave.ts';
import { deleteExpiredAutosaves } from './delete-expired-autosaves.job.ts';
import { getAutosave } from './get-autosave.ts';
import { listAutosaves } from './list-autosaves.ts';
import { putAutosave } from './put-autosave.ts';
import { autosaveTables } from './tables.ts';

export const autosaves: Feature = {
  endpoints: [listAutosaves, putAutosave, getAutosave, deleteAutosave],
  jobs: [deleteExpiredAutosaves],
  tables: autosaveTables,
};
