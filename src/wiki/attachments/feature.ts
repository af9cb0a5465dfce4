import type { Feature } from '../../platform/feature.ts';
import { createAttachment } from './create-attachment.ts';
import { deleteAttachment } from './delete-attachment.ts';
import { getAttachment } from './get-attachment.ts';
import { listAttachments } from './list-attachments.ts';
import { attachmentTables } from './tables.ts';

export const attachments: Feature = {
  endpoints: [createAttachment, listAttachments, getAttachment, deleteAttachment],
  tables: attachmentTables,
};
