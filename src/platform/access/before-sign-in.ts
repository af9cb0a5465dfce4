import type { IncomingMessage } from 'node:http';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import { isOfDomains } from '../core/sign-in/mail-domains.ts';
import { isLoopback } from '../core/trustworthy-url.ts';

type Facts = Record<string, unknown>;
type Sentence = string | ((facts: Facts) => string);

const TELL = 'Tell the people who run this service: its log has the details.';

/**
 * Refusals of people without a session, by the reason that is logged: the error code and the message shown to the
 * person. Messages only distinguish cases about which the person has proved knowledge: all wrong passwords get the same
 * message.
 */
export const REFUSALS = {
  link_unknown: ['unauthorized', 'This sign-in link has expired or was already used. Request a new one.'],
  email_change_unknown: ['not_found', 'This link has expired, was already used, or was replaced by a newer one.'],
  link_expired: ['unauthorized', 'This sign-in link has expired or was already used. Request a new one.'],
  password_wrong: [
    'unauthorized',
    'The address or the password is wrong. If you leave the password empty, you get a sign-in link by mail.',
  ],
  passwords_off: [
    'forbidden',
    'Password sign-in is off here. Sign in another way, or ask the people who run this service to set PASSWORD_SIGN_IN to on.',
  ],
  refresh_token_malformed: ['unauthorized', 'This refresh token is not valid. Sign in again.'],
  refresh_token_spent: ['unauthorized', 'This session has ended. Sign in again.'],
  welcome_has_users: [
    'unauthorized',
    'This service already has its first user. Sign in, or ask a member of your workspace for an invitation.',
  ],
  welcome_unknown: [
    'unauthorized',
    'This link cannot create the first user: it is incomplete, or older than 30 days. Open the link that the service printed when it last started.',
  ],
  invitation_unknown: [
    'not_found',
    'This invitation link is no longer valid: the invitation was revoked, or a newer message replaced the link. Ask the person who invited you.',
  ],
  invitation_not_mailed: [
    'unauthorized',
    'This link cannot sign you in: it did not come to you by mail, or the invitation is no longer open. Sign in with the invited address.',
  ],
  invitation_has_account: [
    'unauthorized',
    'The invited address already has an account here. Sign in to it, then accept the invitation.',
  ],
  domain_not_allowed: [
    'forbidden',
    ({ email, domains }) =>
      `Only addresses of ${domains} may sign in here, and ${email} is not one of them. Use such an address, or ask the people who run this service.`,
  ],
  domain_not_verified: [
    'forbidden',
    ({ domains }) =>
      `Only verified addresses of ${domains} may sign in here, and your organization does not say that you have one. ${TELL}`,
  ],
  openid_off: [
    'forbidden',
    'OpenID sign-in is off here. Sign in another way, or ask the people who run this service to set OIDC_CLIENT_ID.',
  ],
  openid_attempt_unknown: [
    'unauthorized',
    'This sign-in took longer than 10 minutes, was completed already, or began in another browser. Start again.',
  ],
  openid_issuer_refused: [
    'unauthorized',
    ({ error }) =>
      `Your organization did not sign you in (${error}). Ask the people who run its sign-in whether you may use this service.`,
  ],
  openid_code_refused: [
    'unauthorized',
    'Your organization no longer accepts this sign-in: it took too long, or was completed already. Start again.',
  ],
  openid_clock: [
    'unauthorized',
    ({ seconds_ahead: seconds, tolerated }) =>
      `The clocks differ: your organization's is ${Math.abs(Number(seconds))} seconds ${Number(seconds) > 0 ? 'ahead of' : 'behind'} the clock of this service, and at most ${tolerated} are accepted. ${TELL}`,
  ],
  openid_answer_invalid: [
    'unauthorized',
    `The response of your organization's sign-in could not be accepted. Start again. ${TELL}`,
  ],
  form_at_another_address: [
    'forbidden',
    ({ expected, origin }) =>
      `This service is set up for ${expected}, and you came by ${origin}. Open ${expected}, or have the service started with PUBLIC_URL=${origin}.`,
  ],
  form_of_another_site: [
    'forbidden',
    ({ expected, origin }) =>
      `This form was sent from ${origin}, and the service accepts forms only from ${expected}. Open ${expected} and send it again.`,
  ],
  form_without_origin: [
    'forbidden',
    'Your browser did not say which site this form is from. Open the page here and send it again, without extensions that hide it.',
  ],
} as const satisfies Record<string, readonly [ErrorCode, Sentence]>;

export type SignedOutReason = keyof typeof REFUSALS;

/**
 * Returns the refusal of a person without a session. `facts` are logged with the reason and must not contain secrets.
 */
export function refusal(reason: SignedOutReason, facts: Facts = {}, cause?: unknown): ApiError {
  const [code, sentence] = REFUSALS[reason] as readonly [ErrorCode, Sentence];
  const message = typeof sentence === 'string' ? sentence : sentence(facts);
  return new ApiError(code, message, { logged: { reason, ...facts }, cause });
}

/** Throws 403 for an address outside SIGN_IN_DOMAINS. */
export function requireDomain(
  { email, email_verified }: { email: string; email_verified: boolean },
  domains: readonly string[],
): void {
  if (domains.length === 0 || (email_verified && isOfDomains(email, domains))) return;
  const isForeign = email !== '' && !isOfDomains(email, domains);
  const facts = { email, email_verified, domains: domains.map(domainWords).join(' or ') };
  throw refusal(isForeign ? 'domain_not_allowed' : 'domain_not_verified', facts);
}

/** Formats a domain of SIGN_IN_DOMAINS for messages. */
export function domainWords(domain: string): string {
  return domain.startsWith('.') ? `subdomains of ${domain.slice(1)}` : domain;
}

/**
 * Returns the origin at which a browser on another machine reached a service configured for localhost; otherwise
 * undefined. With a proxy the Host may differ although PUBLIC_URL is right, but then PUBLIC_URL is not a localhost
 * address.
 */
export function otherAddress({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): string | undefined {
  const expected = new URL(publicUrl);
  // Browsers send Sec-Fetch-Site to localhost.
  if (!isLoopback(expected)) return undefined;
  if (headers['sec-fetch-site'] !== undefined || headers.host === undefined) return undefined;
  const came = URL.parse(`http://${headers.host}`);
  return came && came.host !== expected.host ? came.origin : undefined;
}

/** Returns the refusal of a form that does not come from a page of this service. */
export function foreignForm({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): ApiError {
  const { origin, host } = headers;
  const facts = {
    expected: new URL(publicUrl).origin,
    origin,
    host,
    sec_fetch_site: headers['sec-fetch-site'],
    forwarded_host: headers['x-forwarded-host'],
  };
  if (origin === undefined || origin === 'null') return refusal('form_without_origin', facts);
  // A proxy may replace the Host. Other sites cannot set these headers, which only affect the wording.
  const cameBy = [host, headers['x-forwarded-host']];
  const isOwnHost = headers['sec-fetch-site'] === undefined && cameBy.includes(URL.parse(origin)?.host ?? '');
  return refusal(isOwnHost ? 'form_at_another_address' : 'form_of_another_site', facts);
}
