import type { FastifyReply } from 'fastify';
import type { RateLimitBucket } from './rate-limit-buckets.ts';
import type { Policy, Rates } from './rate-limit-policies.ts';

/** Writes the remaining requests of each policy, from its tightest bucket. */
export interface Headers {
  write(reply: FastifyReply, policies: readonly Policy[], groups: readonly (readonly RateLimitBucket[])[]): void;
}

/** `RateLimit-Policy` and `RateLimit` as in draft-ietf-httpapi-ratelimit-headers-10. */
export function headersOf(rates: Rates): Headers {
  const texts = new Map<readonly Policy[], string>();
  const policyText = (policies: readonly Policy[]) =>
    policies.map((policy) => `"${policy}";q=${rates[policy].quota};w=${rates[policy].windowSeconds}`).join(', ');
  return {
    write(reply, policies, groups) {
      let text = texts.get(policies);
      if (text === undefined) texts.set(policies, (text = policyText(policies)));
      reply.header('ratelimit-policy', text);
      reply.header(
        'ratelimit',
        groups
          .map(tightest)
          .map(({ remaining, seconds }, i) => `"${policies[i]}";r=${remaining};t=${seconds}`)
          .join(', '),
      );
    },
  };
}

/** Returns the counters of the bucket with the fewest requests left; ties go to the longest wait. */
export function tightest(group: readonly RateLimitBucket[]): { remaining: number; seconds: number } {
  return group
    .map(({ remaining, seconds }) => ({ remaining, seconds }))
    .reduce((a, b) => (b.remaining < a.remaining || (b.remaining === a.remaining && b.seconds > a.seconds) ? b : a));
}
