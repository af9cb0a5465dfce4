import { randomNumbers } from '../corpus.ts';
import { median } from '../median.ts';

const RESAMPLES = 5_000;
/** Of the resampled medians, from this part to the same part at the other end. */
const TAIL = 0.025;

/** A median of ratios, with the interval in which it is with a probability of 95 %. */
export interface Ratio {
  median: number;
  low: number;
  high: number;
  /** Whether the interval leaves out 1: the two differ, however little. */
  is_significant: boolean;
}

/** The median of ratios of rounds, and its interval by bootstrap: the same for the same ratios. */
export function ratioOf(ratios: readonly number[]): Ratio {
  const random = randomNumbers(11);
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? Number.NaN)),
  ).sort((a, b) => a - b);
  const low = medians[Math.floor(RESAMPLES * TAIL)] ?? Number.NaN;
  const high = medians[Math.ceil(RESAMPLES * (1 - TAIL)) - 1] ?? Number.NaN;
  return { median: median(ratios), low, high, is_significant: low > 1 || high < 1 };
}
