import type { Feature } from '../../platform/feature.ts';
import { announceUpload } from './announce-upload.ts';
import { cancelUpload } from './cancel-upload.ts';
import { completeUpload } from './complete-upload.ts';
import { createUpload } from './create-upload.ts';
import { describeTus } from './describe-tus.ts';
import { expireUploads, removeOrphanedParts } from './expire-uploads.job.ts';
import { getFile } from './get-file.ts';
import { getUpload } from './get-upload.ts';
import { listFiles } from './list-files.ts';
import { listUploads } from './list-uploads.ts';
import { receiveBytes } from './receive-bytes.ts';
import { retryUpload } from './retry-upload.ts';
import { uploadTables } from './tables.ts';

export const uploads: Feature = {
  endpoints: [
    createUpload,
    announceUpload,
    listUploads,
    getUpload,
    listFiles,
    describeTus,
    getFile,
    receiveBytes,
    completeUpload,
    cancelUpload,
    retryUpload,
  ],
  jobs: [expireUploads, removeOrphanedParts],
  tables: uploadTables,
};
