import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimited } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import type { Access } from './access-rule.ts';
import { type Credential, subjectOf } from './credential.ts';
import { KnownCredentials } from './known-credentials.ts';
import { networkOf } from './network.ts';
import { openRateLimitBuckets, type Rate, type RateLimitBucket } from './rate-limit-buckets.ts';

/**
 * `general` counts every request, `search` and `uploads` some of them in addition; all three by credential. A request
 * without a credential, or with a refused one, is counted by address: under `auth` at endpoints that need no
 * credential, else under `general`. `invitations` counts messages by workspace, in the endpoints that send them
 * (src/invitations).
 */
type Policy = 'general' | 'search' | 'uploads' | 'auth' | 'invitations';
export interface Rates extends Record<Policy, Rate> {
  /** Messages with invitations that a user sends, to all addresses and to one of them. */
  user_invitations: Rate;
  address_invitations: Rate;
  /** The same of a workspace without a paid plan, as long as it is not older than the window. */
  new_workspace_invitations: Rate;
  /** The same of all users together. */
  service_invitations: Rate;
  /** Workspaces that a user creates. */
  workspaces: Rate;
}

/** The fields of an endpoint that decide which limits apply. */
export interface RateLimited {
  access: Access;
  /** A rate limit in addition to the general one. */
  limit?: 'search' | 'uploads' | 'invitations';
}

export interface RateLimits {
  /** Counts a request to an unknown route or method, which gets the same answer with and without a credential. */
  limitUnmatched(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a request of an endpoint that needs no credential. */
  limitAnonymous(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /**
   * Runs before the credential is read. A token that was not accepted here recently counts by address until it is
   * accepted, which bounds guessing; known credentials behind the same address are not affected.
   */
  limitToken(request: FastifyRequest, reply: FastifyReply, token: string | undefined): Promise<void>;
  /** Runs after the credential is read and before the body is. */
  limitCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: RateLimited,
    credential: Credential,
  ): Promise<void>;
  /** Runs when the answer is sent: remembers an accepted credential and gives back what was counted by address. */
  recordOutcome(request: FastifyRequest, reply: FastifyReply): void;
}

/** What is known of a request between its admission and its answer. */
interface Admitted {
  /** The SHA-256 of the token; undefined without a token. */
  digest: string | undefined;
  /** The subject of the credential. */
  subject: string | undefined;
  /** The bucket of the address, and the window in which one was taken from it. */
  network: RateLimitBucket | undefined;
  window: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | undefined;
  }
}

export function openRateLimits({ rates, query }: { rates: Rates; query: Query }): RateLimits {
  const buckets = openRateLimitBuckets(query);
  const known = new KnownCredentials();
  const headers = headersOf(rates);
  const networkBucket = (policy: 'general' | 'auth', request: FastifyRequest) =>
    buckets.of(`${policy} network ${networkOf(request.ip)}`, rates[policy]);
  const subjectBucket = (policy: Policy, subject: string) => buckets.of(`${policy} ${subject}`, rates[policy]);

  return {
    limitUnmatched(request, reply) {
      const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
      const subject = token === undefined ? undefined : known.subjectOf(digestOf(token));
      const bucket = subject === undefined ? networkBucket('general', request) : subjectBucket('general', subject);
      return takeIfPossible(headers, reply, bucket);
    },
    limitAnonymous: (request, reply) => take(headers, reply, AUTH, [networkBucket('auth', request)]),
    async limitToken(request, reply, token) {
      if (token === undefined) return takeIfPossible(headers, reply, networkBucket('general', request));
      const digest = digestOf(token);
      const subject = known.subjectOf(digest);
      if (subject !== undefined) {
        request.admitted = { digest, subject, network: undefined, window: 0 };
        return;
      }
      const network = networkBucket('general', request);
      await take(headers, reply, GENERAL, [network]);
      request.admitted = { digest, subject, network, window: network.window };
    },
    limitCredential(request, reply, endpoint, credential) {
      const subject = subjectOf(credential).join(' ');
      if (request.admitted) request.admitted.subject = subject;
      const policies = policiesOf(endpoint);
      const buckets = policies.filter(countsRequests).map((policy) => subjectBucket(policy, subject));
      return take(headers, reply, policies, buckets);
    },
    recordOutcome(request, reply) {
      const { admitted } = request;
      if (admitted?.digest === undefined) return;
      const { digest, subject, network, window } = admitted;
      if (reply.statusCode === 401) {
        known.remove(digest);
        const counted = network ?? networkBucket('general', request);
        // A credential that was known has not been counted yet. The answer is already decided, so an unavailable
        // database does not matter.
        if (!network) void Promise.resolve(counted.take()).catch(() => undefined);
        headers.write(reply, GENERAL, [counted]);
      } else if (subject !== undefined && reply.statusCode < 500) {
        network?.giveBack(window);
        if (reply.statusCode !== 429) known.remember(digest, subject);
      }
    },
  };
}

/** Takes one from each bucket, or from none if one is empty, and writes the headers. */
async function take(
  headers: Headers,
  reply: FastifyReply,
  policies: readonly Policy[],
  buckets: readonly RateLimitBucket[],
): Promise<void> {
  for (const [i, bucket] of buckets.entries()) {
    const answer = bucket.take();
    const granted = typeof answer === 'boolean' ? answer : await answer;
    if (granted) continue;
    for (const before of buckets.slice(0, i)) before.giveBack(before.window);
    headers.write(reply, policies, buckets);
    throw rateLimited(bucket.seconds);
  }
  headers.write(reply, policies, buckets);
}

/** For requests that are refused in any case: an unavailable database does not change the refusal. */
async function takeIfPossible(headers: Headers, reply: FastifyReply, bucket: RateLimitBucket): Promise<void> {
  const granted = await Promise.resolve(bucket.take()).catch(() => true);
  headers.write(reply, GENERAL, [bucket]);
  if (!granted) throw rateLimited(bucket.seconds);
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

const GENERAL: readonly Policy[] = ['general'];
const AUTH: readonly Policy[] = ['auth'];
const POLICIES_OF_LIMIT = {
  search: ['general', 'search'],
  uploads: ['general', 'uploads'],
  invitations: ['general', 'invitations'],
} as const satisfies Record<string, readonly Policy[]>;

/** The policies that apply to a request of this endpoint. */
export function policiesOf(endpoint: RateLimited): readonly Policy[] {
  if (isAnonymous(endpoint)) return AUTH;
  return endpoint.limit ? POLICIES_OF_LIMIT[endpoint.limit] : GENERAL;
}

/** Whether the endpoint is called without a credential, to sign in. */
export function isAnonymous({ access }: Pick<RateLimited, 'access'>): boolean {
  return access.on === 'anyone';
}

/** Invitations are counted where the message is sent, because not every request sends one. */
function countsRequests(policy: Policy): boolean {
  return policy !== 'invitations';
}

/** Writes how many requests are left. */
interface Headers {
  write(reply: FastifyReply, policies: readonly Policy[], buckets: readonly RateLimitBucket[]): void;
}

/** `RateLimit-Policy` and `RateLimit` as in draft-ietf-httpapi-ratelimit-headers-10. */
function headersOf(rates: Rates): Headers {
  const texts = new Map<readonly Policy[], string>();
  const policyText = (policies: readonly Policy[]) =>
    policies.map((policy) => `"${policy}";q=${rates[policy].quota};w=${rates[policy].windowSeconds}`).join(', ');
  return {
    write(reply, policies, buckets) {
      let text = texts.get(policies);
      if (text === undefined) texts.set(policies, (text = policyText(policies)));
      reply.header('ratelimit-policy', text);
      reply.header(
        'ratelimit',
        buckets.map(({ remaining, seconds }, i) => `"${policies[i]}";r=${remaining};t=${seconds}`).join(', '),
      );
    },
  };
}
