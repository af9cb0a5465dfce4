import type { Feature } from '../../platform/feature.ts';
import { changeRetention } from './change-retention.ts';
import { getRetention } from './get-retention.ts';
import { liftLegalHold } from './lift-legal-hold.ts';
import { setLegalHold } from './set-legal-hold.ts';

export const retention: Feature = {
  endpoints: [getRetention, changeRetention, setLegalHold, liftLegalHold],
};
