import type { Loss, LossKind } from '../../losses.ts';
import { lossOn } from '../page/page.ts';

/**
 * Reasons for omitting a picture, with the kind of loss: decoration is an ornament, anything else is a picture that
 * readers would miss.
 */
const KINDS = {
  small: 'ornament',
  'behind text': 'ornament',
  'on many pages': 'ornament',
  'outside of the page': 'ornament',
  'part of a drawing': 'picture',
  'too large': 'picture',
  'beyond the limit of a document': 'picture',
  damaged: 'picture',
} as const satisfies Record<string, LossKind>;
export type WhyOmitted = keyof typeof KINDS;

/** Collects omitted pictures: one loss for each reason, with their number and pages. */
export interface OmittedPictures {
  add(why: WhyOmitted, page: number, count?: number): void;
  losses(): Loss[];
}

export function omittedPictures(): OmittedPictures {
  const byReason = new Map<WhyOmitted, Loss>();
  return {
    add(why, page, count = 1) {
      if (count === 0) return;
      const loss = byReason.get(why) ?? lossOn(page, { kind: KINDS[why], place: why, count: 0 });
      byReason.set(why, loss);
      loss.first_page = Math.min(loss.first_page, page);
      loss.last_page = Math.max(loss.last_page, page);
      loss.count += count;
    },
    losses: () => [...byReason.values()],
  };
}
