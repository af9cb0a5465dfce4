import { pino } from 'pino';
import { isTrustworthy } from '../../../platform/core/trustworthy-url.ts';
import { openIssuerKeys } from '../../../platform/providers/identity/issuer-keys.ts';
import { duration, type Finding, ok, problem, reasonOf, type Subject, warning } from '../../operator/checks/finding.ts';
import { readExternalConfig } from '../../service/external-config.ts';
import { ehloNameOf, openMail, publicUrlOf } from '../../service/from-config.ts';
import { readCertificate, tlsServersOf } from '../../service/metrics/certificate-metrics.ts';

const silent = pino({ level: 'silent' });

/** Connects, says EHLO, encrypts and authenticates as for a message, but sends none. */
export async function checkMail({ config }: Subject): Promise<Finding[]> {
  const { SMTP_URL, MAIL_FROM } = config;
  if (!SMTP_URL) return [warning('no mail server is set: messages and their links go to the log', 'set SMTP_URL')];
  const server = new URL(SMTP_URL).host;
  try {
    await (await openMail(config, silent)).check();
  } catch (error) {
    const { code, responseCode } = ((error as Error).cause ?? {}) as { code?: string; responseCode?: number };
    const reply = responseCode === undefined ? '' : ` (reply ${responseCode})`;
    const reason = reasonOf(error);
    const advice = /certificate|altnames/i.test(reason) ? adviceOnCertificate(reason) : MAIL_ADVICE[code ?? ''];
    return [problem(`${server}: ${reason}${reply}`, advice ?? 'correct SMTP_URL, or start the mail server')];
  }
  const { refusalOfSender } = await import('../../../platform/providers/mail/check-sender.ts');
  const refusal = await refusalOfSender(SMTP_URL, MAIL_FROM, ehloNameOf(config)).catch(reasonOf);
  if (refusal !== undefined) {
    const advice = /^530|auth/i.test(refusal)
      ? 'put the user and the password into SMTP_URL'
      : 'set MAIL_FROM to an address that this user may send from';
    return [problem(`${server} rejects the sender ${MAIL_FROM}: ${refusal.replace(/\s+/g, ' ').trim()}`, advice)];
  }
  const findings = [ok(`${server} accepts mail from this service`)];
  if (MAIL_FROM.includes('@localhost')) {
    findings.push(
      warning(
        `the sender is ${MAIL_FROM}, which other mail servers reject`,
        'set MAIL_FROM to an address of your domain',
      ),
    );
  }
  return findings;
}

function adviceOnCertificate(reason: string): string {
  if (/altnames|does not match/i.test(reason)) return 'set SMTP_URL to a host name that is in its certificate';
  if (/expired/i.test(reason)) return 'renew its certificate';
  return 'make it send the whole chain; for your own CA, set NODE_EXTRA_CA_CERTS to a file with its certificate';
}

const MAIL_ADVICE: Record<string, string> = {
  EAUTH: 'correct the user and password in SMTP_URL; percent-encode all characters except letters and digits',
  EDNS: 'correct the host in SMTP_URL, or the DNS of this machine',
  ETLS: 'its TLS mode does not match SMTP_URL: use smtps:// with port 465 or smtp:// with port 587',
  ESOCKET: 'the protocol of the port does not match SMTP_URL: use smtps:// with port 465 or smtp:// with port 587',
  ETIMEDOUT: 'a firewall may block it: many providers block port 25, so try 587 or 465',
};

/** Fetches from the issuer everything that signing in and verifying tokens need. */
export async function checkIssuer({ config }: Subject): Promise<Finding[]> {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID } = config;
  if (!issuer) return [];
  const ADVICE = 'start the issuer, or correct OIDC_ISSUER; it must be reachable from this machine';
  try {
    const keys = await openIssuerKeys({ issuer, now: Date.now, fetch, log: () => {}, onChange: () => {} }).current();
    if (OIDC_CLIENT_ID) await readExternalConfig(config, silent).openid?.begin();
    if (keys.length === 0) {
      return [problem(`${issuer} publishes no key for ES256, EdDSA or RS256`, 'make it sign with one of them')];
    }
    const redirect = OIDC_CLIENT_ID ? `; ${publicUrlOf(config)}/sign-in/callback must be registered there` : '';
    return [ok(`${issuer} answers, with ${keys.length === 1 ? 'one key' : `${keys.length} keys`}${redirect}`)];
  } catch (error) {
    return [problem(reasonOf(error), ADVICE)];
  }
}

/** The threshold of the alert IbidCertificateEnds. */
const ENDS_SOON_SECONDS = 14 * 86_400;

/** Checks when the certificates of the service and of its servers expire, and whether this machine trusts them. */
export async function checkCertificates({ config }: Subject): Promise<Finding[]> {
  return Promise.all(
    tlsServersOf(config).map(async (server) => {
      const name = `${server.place}, ${server.host}:${server.port}`;
      try {
        const { end, distrust } = await readCertificate(server);
        const left = end - Date.now() / 1_000;
        if (left < 0) return problem(`${name}: the certificate has expired`, 'renew it');
        if (distrust) {
          return problem(
            `${name}: the certificate is not trusted (${distrust})`,
            'send the whole chain; for your own CA, set NODE_EXTRA_CA_CERTS',
          );
        }
        const seen = `${name}: the certificate expires in ${duration(left)}`;
        return left < ENDS_SOON_SECONDS
          ? warning(seen, 'renew it, and find out why automatic renewal did not')
          : ok(seen);
      } catch (error) {
        return problem(`${name}: ${reasonOf(error)}`, 'start the server, or correct its address');
      }
    }),
  );
}

/** Checks whether users reach the service at the address of links in mail. */
export async function checkPublicUrl({ config }: Subject): Promise<Finding[]> {
  const { PUBLIC_URL, ROLE } = config;
  if (ROLE === 'worker' && !PUBLIC_URL) {
    return [
      problem('a worker without PUBLIC_URL sends broken links', 'set the same PUBLIC_URL as for the web processes'),
    ];
  }
  const url = publicUrlOf(config);
  if (!PUBLIC_URL)
    return [warning(`links in messages lead to ${url}`, 'set PUBLIC_URL to where users reach the service')];
  if (!isTrustworthy(new URL(url))) {
    return [
      warning(
        `users reach the service at ${url}, without TLS`,
        'put a TLS proxy in front of it, and set PUBLIC_URL to the https address',
      ),
    ];
  }
  const advice =
    'start the service. If it is running, correct PUBLIC_URL or the proxy (this machine may also be unable to reach its own public address)';
  try {
    const { status } = await fetch(`${url}/livez`, { redirect: 'manual' });
    if (status !== 200) return [warning(`${url}/livez answers ${status}`, advice)];
  } catch (error) {
    return [warning(`${url}: ${reasonOf(error)}`, advice)];
  }
  return [await checkLargeRequests(url)];
}

/** Above the default limit of proxies, such as 1 MB for nginx. The text of a page can be this long. */
const LARGE_BYTES = 2_000_000;

/**
 * Number of attempts: the service refuses the request unread and closes the connection, which some proxies answer with
 * 502.
 */
const ATTEMPTS = 5;

/** Checks that a large request passes the proxy. The service refuses it, because it has no credential. */
async function checkLargeRequests(url: string): Promise<Finding> {
  const advice =
    'allow bodies of any size, such as with "client_max_body_size 0" in nginx; the service enforces its own limits: docs/operations/proxy.md';
  let seen = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      const answer = await fetch(`${url}/v1/onboarding`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Uint8Array(LARGE_BYTES),
        redirect: 'manual',
      });
      if (/"request_id"/.test(await answer.text())) return ok(`${url} answers, and accepts requests of 2 MB`);
      const { status, headers } = answer;
      const who = `${headers.get('server') ?? 'something'} in front of the service`;
      if (status === 413) return problem(`a request of 2 MB to ${url} is refused by ${who} (413)`, advice);
      seen = `is answered ${status} by ${who}`;
    } catch (error) {
      seen = `is interrupted: ${reasonOf(error)}`;
    }
  }
  return warning(`a request of 2 MB to ${url} ${seen}`, advice);
}
