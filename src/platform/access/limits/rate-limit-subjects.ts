import type { FastifyRequest } from 'fastify';
import type { Query } from '../../db/db.ts';
import type { CredentialOwner } from '../credential-owner.ts';
import { networkOf } from '../network.ts';
import { openRateLimitBuckets, type RateLimitBucket } from './rate-limit-buckets.ts';
import { multiplied, type Policy, type Rates, type RequestPolicy } from './rate-limit-policies.ts';

export interface RateLimitSubjects {
  network(policy: 'general' | 'auth' | 'callback', request: FastifyRequest): RateLimitBucket;
  credential(policy: Policy, subject: string): RateLimitBucket;
  /** Buckets of the user and of the workspace, if known. */
  owner(policy: RequestPolicy, owner: CredentialOwner): RateLimitBucket[];
}

export function openRateLimitSubjects(rates: Rates, query: Query): RateLimitSubjects {
  const buckets = openRateLimitBuckets(query);
  const userRates = multiplied(rates, rates.user_factor);
  const workspaceRates = multiplied(rates, rates.workspace_factor);
  return {
    network: (policy, request) =>
      buckets.of(`${policy} network ${networkOf(request.ip)}`, rates[policy === 'callback' ? 'general' : policy]),
    credential: (policy, subject) => buckets.of(`${policy} ${subject}`, rates[policy]),
    owner(policy, { user_id, workspace_id }) {
      const found: RateLimitBucket[] = [];
      if (user_id !== undefined) found.push(buckets.of(`${policy} user ${user_id}`, userRates[policy]));
      if (workspace_id !== undefined) {
        found.push(buckets.of(`${policy} workspace ${workspace_id}`, workspaceRates[policy]));
      }
      return found;
    },
  };
}
