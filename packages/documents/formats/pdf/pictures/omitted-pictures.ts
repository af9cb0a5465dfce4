import type { Loss, LossKind } from '../../losses.ts';
import { lossOn } from '../page/page.ts';

/** Why a picture is not shown; what decorates is an ornament, and a reader would look for the rest. */
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

/** The pictures that are left out: one loss for each reason, with how many there are and on which pages. */
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
