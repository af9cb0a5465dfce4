import type { Feature } from '../../platform/feature.ts';
import { verifySource } from './verify-source.ts';

export const verification: Feature = { endpoints: [verifySource] };
