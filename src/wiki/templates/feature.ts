import type { Feature } from '../../platform/feature.ts';
import { addTemplate } from './add-template.ts';
import { createFromTemplate } from './create-from-template.ts';
import { getTemplate } from './get-template.ts';
import { listTemplates } from './list-templates.ts';
import { removeTemplate } from './remove-template.ts';
import { templateTables } from './tables.ts';

export const templates: Feature = {
  endpoints: [listTemplates, addTemplate, getTemplate, removeTemplate, createFromTemplate],
  tables: templateTables,
};
