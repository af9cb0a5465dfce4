import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, rateLimited } from '../../core/errors.ts';
import type { Query } from '../../db/db.ts';
import { type CountedRequest, ownerCounter } from '../count-by-owner.ts';
import { type Credential, subjectOf } from '../credential.ts';
import { claimsOf } from '../credential-kinds.ts';
import type { FindOwner } from '../credential-owner.ts';
import { KnownCredentials } from '../known-credentials.ts';
import { digestOf } from '../token.ts';
import type { RateLimitBucket } from './rate-limit-buckets.ts';
import { type Headers, headersOf, tightest } from './rate-limit-headers.ts';
import {
  countsRequests,
  GENERAL,
  type Policy,
  policiesOf,
  type RateLimited,
  type Rates,
} from './rate-limit-policies.ts';
import { openRateLimitSubjects } from './rate-limit-subjects.ts';

export interface RateLimits {
  /** Counts a request to an unknown route or method, which gets the same answer with and without a credential. */
  limitUnmatched(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a request of an endpoint without authentication. */
  limitAnonymous(request: FastifyRequest, reply: FastifyReply, endpoint: RateLimited): Promise<void>;
  /**
   * Runs before the credential is read. A token that was not accepted here recently counts by address until it is
   * accepted, which bounds guessing; known credentials at the same address are not affected.
   */
  limitToken(request: FastifyRequest, reply: FastifyReply, token: string | undefined): Promise<void>;
  /** Runs after the credential is read and before the body is read. */
  limitCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: RateLimited,
    credential: Credential,
  ): Promise<void>;
  /**
   * Runs when the answer is sent: remembers an accepted credential and returns its request to the limit of the address.
   */
  recordOutcome(request: FastifyRequest, reply: FastifyReply): void;
}

/** State of a request between its admission and its answer. */
interface Admitted {
  /** SHA-256 of the token; undefined without a token. */
  digest: string | undefined;
  subject: string | undefined;
  /** The subjects by which the request was counted; undefined before that. */
  counted: CountedRequest | undefined;
  /** Bucket of the address, and the window in which a request was taken from it. */
  network: RateLimitBucket | undefined;
  window: number;
  /** Returns the requests of a sign-in to the limit of the address. */
  giveBack?: () => void;
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | undefined;
  }
}

export function openRateLimits(options: {
  rates: Rates;
  query: Query;
  findOwner: FindOwner;
  onFindOwnerFailed: (error: unknown) => void;
}): RateLimits {
  const { rates, query, findOwner, onFindOwnerFailed } = options;
  const subjects = openRateLimitSubjects(rates, query);
  const known = new KnownCredentials();
  const headers = headersOf(rates);
  const recordAccepted = ownerCounter(subjects, findOwner, onFindOwnerFailed);

  return {
    limitUnmatched(request, reply) {
      const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
      const entry = token === undefined ? undefined : known.find(digestOf(token).toString('base64'));
      if (entry === undefined) return takeIfPossible(headers, reply, [subjects.network('general', request)]);
      const owner = { user_id: entry.user_id, workspace_id: undefined };
      return takeIfPossible(headers, reply, [
        subjects.credential('general', entry.subject),
        ...subjects.owner('general', owner),
      ]);
    },
    async limitAnonymous(request, reply, endpoint) {
      const policies = policiesOf(endpoint);
      const isCounted = policies.includes('auth');
      const { givesBack = 0 } = endpoint;
      const network = subjects.network(isCounted ? 'auth' : 'general', request);
      if (givesBack === 0) return take(headers, reply, policies, [[network]]);
      // A separate count bounds the returned requests; otherwise a person with an account could sign in without limit.
      const callback = subjects.network('callback', request);
      await take(headers, reply, policies, [isCounted ? [network, callback] : [callback]]);
      const giveBack = returnTo(subjects.network('auth', request), givesBack, isCounted);
      request.admitted = { digest: undefined, subject: undefined, counted: undefined, network, window: 0, giveBack };
    },
    async limitToken(request, reply, token) {
      if (token === undefined) return takeIfPossible(headers, reply, [subjects.network('general', request)]);
      const digest = digestOf(token).toString('base64');
      const subject = known.find(digest)?.subject;
      if (subject !== undefined) {
        request.admitted = { digest, subject, counted: undefined, network: undefined, window: 0 };
        return;
      }
      const network = subjects.network('general', request);
      await take(headers, reply, GENERAL, [[network]]);
      request.admitted = { digest, subject, counted: undefined, network, window: network.window };
    },
    limitCredential(request, reply, endpoint, credential) {
      const subject = subjectOf(credential).join(' ');
      const policies = policiesOf(endpoint);
      const { admitted } = request;
      const entry = admitted?.digest === undefined ? undefined : known.find(admitted.digest);
      const place = placeOf(request, credential);
      const owner = { user_id: entry?.user_id, workspace_id: entry?.workspaceAt(place) };
      if (admitted) {
        admitted.subject = subject;
        admitted.counted = { access: endpoint.access, credential, policies, place, owner };
      }
      const groups = policies
        .filter(countsRequests)
        .map((policy) => [subjects.credential(policy, subject), ...subjects.owner(policy, owner)]);
      return take(headers, reply, policies, groups);
    },
    recordOutcome(request, reply) {
      const { admitted } = request;
      if (reply.statusCode < 300) admitted?.giveBack?.();
      if (admitted?.digest === undefined) return;
      const { digest, subject, counted, network, window } = admitted;
      if (reply.statusCode === 401) {
        known.remove(digest);
        const bucket = network ?? subjects.network('general', request);
        // The request of a known credential has not been counted yet. The answer is already decided, so an unavailable
        // database does not matter.
        if (!network) void Promise.resolve(bucket.take()).catch(() => undefined);
        headers.write(reply, GENERAL, [[bucket]]);
      } else if (subject !== undefined && reply.statusCode < 500) {
        network?.giveBack(window);
        if (reply.statusCode === 429) return;
        const entry = known.remember(digest, subject);
        if (counted) recordAccepted(entry, counted, request, reply.statusCode);
      }
    },
  };
}

/**
 * Returns `count` requests to the bucket: the first to the current window if `isCounted`, the others to the window at
 * the time of the answer.
 */
function returnTo(bucket: RateLimitBucket, count: number, isCounted: boolean): () => void {
  const { window } = bucket;
  return () => {
    for (let given = 0; given < count; given += 1) bucket.giveBack(given === 0 && isCounted ? window : bucket.window);
  };
}

/** Returns the workspace or wiki named by the path or by a widget token. */
function placeOf({ params }: FastifyRequest, credential: Credential): string | undefined {
  const { workspace_id, organization_id, wiki_id } = (params ?? {}) as Record<string, string | undefined>;
  return claimsOf(credential)?.workspace_id ?? wiki_id ?? workspace_id ?? organization_id;
}

/**
 * Takes one request from each bucket, or from none if one is empty, and writes the headers. `groups` contains, for each
 * policy, the buckets of the credential, its user and its workspace.
 */
async function take(
  headers: Headers,
  reply: FastifyReply,
  policies: readonly Policy[],
  groups: readonly (readonly RateLimitBucket[])[],
): Promise<void> {
  const taken: RateLimitBucket[] = [];
  for (const group of groups) {
    for (const bucket of group) {
      const answer = bucket.take();
      if (typeof answer === 'boolean' ? answer : await answer) {
        taken.push(bucket);
        continue;
      }
      for (const before of taken) before.giveBack(before.window);
      headers.write(reply, policies, groups);
      throw rateLimited(tightest(group).seconds);
    }
  }
  headers.write(reply, policies, groups);
}

/** For requests that are refused in any case: an unavailable database does not change the refusal. */
async function takeIfPossible(headers: Headers, reply: FastifyReply, group: RateLimitBucket[]): Promise<void> {
  try {
    await take(headers, reply, GENERAL, [group]);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    headers.write(reply, GENERAL, [group]);
  }
}
