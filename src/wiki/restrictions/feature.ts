import type { Feature } from '../../platform/feature.ts';
import { liftRestriction } from './lift-restriction.ts';
import { restrictPage } from './restrict-page.ts';
import { restrictionTables } from './tables.ts';

export const restrictions: Feature = { endpoints: [restrictPage, liftRestriction], tables: restrictionTables };
