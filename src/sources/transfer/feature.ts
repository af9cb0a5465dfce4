import type { Feature } from '../../platform/feature.ts';
import { createExport } from './export/create-export.ts';
import { deleteExpiredExports } from './export/delete-expired-exports.job.ts';
import { exportJob } from './export/export.job.ts';
import { getExportContent } from './export/get-export-content.ts';
import { createImport } from './import/create-import.ts';
import { importJob } from './import/import.job.ts';
import { removeStagedRowsOfEnded } from './import/remove-staged-rows.job.ts';
import { transferTables } from './tables.ts';

export const transfer: Feature = {
  endpoints: [createExport, getExportContent, createImport],
  jobs: [exportJob, importJob, removeStagedRowsOfEnded, deleteExpiredExports],
  tables: transferTables,
};
