import type { Feature } from '../../platform/feature.ts';
import { restrictionTables } from './tables.ts';

export const restrictions: Feature = { tables: restrictionTables };
