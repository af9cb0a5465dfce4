import { randomNumbers } from '../corpus.ts';
import { median } from '../median.ts';

const RESAMPLES = 5_000;
/** Fraction of the resampled medians that is cut off at either end. */
const TAIL = 0.025;

/** A median of ratios, with its 95% confidence interval. */
export interface Ratio {
  median: number;
  low: number;
  high: number;
  /** Whether the interval excludes 1: the revisions differ, however little. */
  is_significant: boolean;
}

/** Returns the median of the rounds' ratios, and its interval by bootstrap. The result is deterministic. */
export function ratioOf(ratios: readonly number[]): Ratio {
  const random = randomNumbers(11);
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? Number.NaN)),
  ).sort((a, b) => a - b);
  const low = medians[Math.floor(RESAMPLES * TAIL)] ?? Number.NaN;
  const high = medians[Math.ceil(RESAMPLES * (1 - TAIL)) - 1] ?? Number.NaN;
  return { median: median(ratios), low, high, is_significant: low > 1 || high < 1 };
}
