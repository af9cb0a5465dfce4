import type { Postgres } from '@ibid/postgres-server/postgres.ts';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { registerWeb } from '../../../web/web.ts';
import { AUDIT_TARGETS, ENDPOINTS, PERSON_LISTS } from '../../app.ts';
import { offerWelcomeLink } from '../../organization/session/welcome-link.ts';
import { credentialReader } from '../../platform/access/credential.ts';
import { ownerFinder } from '../../platform/access/credential-owner.ts';
import { openRateLimits } from '../../platform/access/limits/rate-limits.ts';
import { openWidgetTokens } from '../../platform/access/widget-token.ts';
import type { ServiceDb } from '../../platform/db/db.ts';
import { SERVICE } from '../../platform/db/request-context.ts';
import type { RequestStats } from '../../platform/http/load/request-stats.ts';
import type { RequestQueue } from '../../platform/http/load/stop-requests.ts';
import { describeForReference } from '../../platform/http/openapi/reference.ts';
import { makeServer } from '../../platform/http/server.ts';
import { registerServiceRoutes } from '../../platform/http/service-routes.ts';
import type { Services } from '../../platform/http/services.ts';
import { openJobChanges } from '../../platform/jobs/job-changes.ts';
import type { Mail } from '../../platform/providers/mail/mail.ts';
import type { Payments } from '../../platform/providers/payments/payments.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import type { RenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import type { Config } from '../config.ts';
import { openOperatorConsole } from '../operator/operator-console.ts';
import type { OperatorConsole } from '../operator/schema.ts';
import type { ExternalConfig } from './external-config.ts';
import { limitsOf, missingPublicUrl, publicUrlOf, ratesOf } from './from-config.ts';
import type { OnStop, ServiceHooks } from './hooks.ts';
import { VERSION } from './version.ts';

/** Processes for saves and previews. A single workspace never gets all of them. */
const RENDERING_PROCESSES = 2;

interface Started {
  config: Config;
  log: Logger;
  db: ServiceDb;
  postgres: Postgres | undefined;
  blobs: Blobs;
  mail: Mail;
  payments: Payments;
  external: ExternalConfig;
  rendering: RenderingStats;
  requests: RequestStats;
  wakeWorker: () => void;
}

/**
 * Serves the API and the web application. `welcome` is the link for creating the first user, if there is no user.
 * Throws StartError if it cannot listen.
 */
export async function startApi(
  started: Started,
  hooks: Pick<ServiceHooks, 'services'>,
  onStop: OnStop,
): Promise<{ address: string; welcome: string | undefined }> {
  const { config, log, db } = started;
  // Separate processes, so that page saves never wait for files of uploads.
  const renderer = openSandbox({
    processes: RENDERING_PROCESSES,
    perWorkspace: RENDERING_PROCESSES - 1,
    stats: started.rendering,
    onError: (err) => log.error({ err }, 'a page could not be rendered and is shown as plain text'),
  });
  onStop(() => renderer.close());
  // Its processes start with the first verification of a document.
  const reader = openDocumentReader({ processes: 1 });
  onStop(() => reader.close());
  const { renderPage, withinShares } = renderer;
  const services = await openServices(started, { renderPage, withinShares, readerOf: reader.of });
  const app = makeApp(started, hooks.services?.(services) ?? services, [renderer, reader]);
  onStop(() => app.close());
  const address = await listen(app, config);
  const missing = missingPublicUrl(config);
  if (missing) log.warn(missing);
  const welcome = await offerWelcomeLink(db.in(SERVICE).query, publicUrlOf(config));
  if (welcome) {
    log.info(
      { link: welcome },
      `There is no user yet. The person who opens this link becomes the first user: ${welcome}`,
    );
  }
  return { address, welcome };
}

async function openServices(
  { config, log, db, postgres, blobs, mail, payments, external, wakeWorker }: Started,
  reading: Pick<Services, 'renderPage' | 'withinShares' | 'readerOf'>,
): Promise<Services> {
  const { query } = db.in(SERVICE);
  return {
    blobs,
    mail,
    signIn: {
      sign_up: config.SIGN_UP,
      domains: config.SIGN_IN_DOMAINS,
      passwords: config.PASSWORD_SIGN_IN === 'on',
      openid: external.openid,
      groups:
        config.OIDC_ROLES.length > 0
          ? { roles: config.OIDC_ROLES, warn: (message, details) => log.warn(details, message) }
          : undefined,
    },
    publicUrl: publicUrlOf(config),
    payments,
    plans: external.plans,
    widgetTokens: await openWidgetTokens(query, publicUrlOf(config)),
    ...reading,
    jobChanges: openJobChanges(query, (err) => log.warn({ err }, 'jobs could not be watched')),
    wakeWorker,
    diskIsFull: () => postgres?.diskIsFull() ?? false,
    limits: limitsOf(config),
    rates: ratesOf(config),
    auditTargets: AUDIT_TARGETS,
    personLists: PERSON_LISTS,
  };
}

function makeApp(started: Started, services: Services, queues: readonly RequestQueue[]): FastifyInstance {
  const {
    config,
    log,
    db,
    requests,
    external: { identities },
  } = started;
  const { query } = db.in(SERVICE);
  const { rates, widgetTokens, publicUrl } = services;
  const app = makeServer({
    endpoints: ENDPOINTS,
    db,
    credentials: credentialReader({ query, identities, widgetTokens }),
    services,
    stats: requests,
    limits:
      rates &&
      openRateLimits({
        rates,
        query,
        findOwner: ownerFinder(db),
        onFindOwnerFailed: (err) => log.warn({ err }, 'a request was not counted for its user'),
      }),
    trustedProxies: config.TRUSTED_PROXIES,
    requestLogSize: config.REQUEST_LOG_SIZE,
    queues,
    log,
  });
  let reference: string | undefined;
  registerWeb(app, {
    operatorConsole: openConsole(started),
    publicUrl,
    hasMail: Boolean(config.SMTP_URL),
    hasPayments: config.STRIPE_SECRET_KEY !== undefined,
    formBytes: config.MAX_JSON_SIZE + 3 * config.MAX_MARKDOWN_SIZE,
    styleguide: config.STYLEGUIDE === 'on',
    reference: () => (reference ??= JSON.stringify(describeForReference(ENDPOINTS, publicUrl))),
  });
  registerServiceRoutes(app, { endpoints: ENDPOINTS, query, version: VERSION });
  return app;
}

/** Returns undefined if the configuration names no operators. */
function openConsole({ config, db, postgres }: Started): OperatorConsole | undefined {
  if (config.OPERATORS.length === 0) return undefined;
  return openOperatorConsole({
    config,
    connection: postgres?.connection ?? { connectionString: config.DATABASE_URL },
    own: postgres?.connection,
    version: VERSION,
    spenders: () => db.usage().workspaces,
  });
}

async function listen(app: FastifyInstance, { HOST: host, PORT: port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new StartError(`Port ${port} of ${host} is in use: stop the program that uses it, or set PORT.`);
    if (code === 'EACCES') throw new StartError(`Port ${port} requires more privileges: set PORT to 1024 or above.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(
        `HOST ${host} is not an address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or another address of this machine.`,
      );
    }
    throw cause;
  }
}
