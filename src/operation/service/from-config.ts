import { hostname } from 'node:os';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Logger } from 'pino';
import type { Rates } from '../../platform/access/limits/rate-limit-policies.ts';
import type { Limits } from '../../platform/http/services.ts';
import { type Mail, openLogMail } from '../../platform/providers/mail/mail.ts';
import { builtInPayments, type Payments, type Plan } from '../../platform/providers/payments/payments.ts';
import type { Config } from '../config.ts';

export function limitsOf(config: Config): Limits {
  return {
    json_bytes: config.MAX_JSON_SIZE,
    markdown_bytes: config.MAX_MARKDOWN_SIZE,
    file_bytes: config.MAX_FILE_SIZE,
    upload_bytes: config.MAX_UPLOAD_SIZE,
    upload_files: config.MAX_UPLOAD_FILES,
  };
}

export function ratesOf(config: Config): Rates | undefined {
  if (config.RATE_LIMITS === 'off') return undefined;
  return {
    user_factor: config.RATE_LIMIT_USER_FACTOR,
    workspace_factor: config.RATE_LIMIT_WORKSPACE_FACTOR,
    general: config.RATE_LIMIT_GENERAL,
    search: config.RATE_LIMIT_SEARCH,
    uploads: config.RATE_LIMIT_UPLOADS,
    auth: config.RATE_LIMIT_AUTH,
    invitations: config.RATE_LIMIT_INVITATIONS,
    user_invitations: config.RATE_LIMIT_USER_INVITATIONS,
    address_invitations: config.RATE_LIMIT_ADDRESS_INVITATIONS,
    new_workspace_invitations: config.RATE_LIMIT_NEW_WORKSPACE_INVITATIONS,
    service_invitations: config.RATE_LIMIT_SERVICE_INVITATIONS,
    workspaces: config.RATE_LIMIT_WORKSPACES,
  };
}

export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  // A browser cannot open the wildcard address.
  const host = listensEverywhere({ HOST }) ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

function listensEverywhere({ HOST }: Pick<Config, 'HOST'>): boolean {
  return HOST === '0.0.0.0' || /^[0:]+$/.test(HOST);
}

/**
 * Returns advice if other machines reach the service, but the configuration does not say at which address; otherwise
 * undefined.
 */
export function missingPublicUrl(config: Config): string | undefined {
  const { PUBLIC_URL, SMTP_URL, TRUSTED_PROXIES, PORT } = config;
  if (PUBLIC_URL !== undefined) return undefined;
  if (listensEverywhere(config)) {
    return `PUBLIC_URL is not set, so the link and the forms work only in a browser on this machine. For other machines, set PUBLIC_URL to the address that they open, such as http://${hostname()}:${PORT}.`;
  }
  if (SMTP_URL === undefined && TRUSTED_PROXIES.length === 0) return undefined;
  const which = SMTP_URL === undefined ? 'TRUSTED_PROXIES' : 'SMTP_URL';
  return `${which} is set but PUBLIC_URL is not: links in messages lead to ${publicUrlOf(config)}. Set PUBLIC_URL to where users reach the service.`;
}

/** Loads the SMTP library only if a mail server is configured. */
export async function openMail(config: Config, log: Logger): Promise<Mail> {
  const { SMTP_URL, MAIL_FROM } = config;
  if (!SMTP_URL) return openLogMail(log);
  const { openSmtpMail } = await import('../../platform/providers/mail/smtp-mail.ts');
  return openSmtpMail(SMTP_URL, MAIL_FROM, ehloNameOf(config));
}

/** Mail servers may refuse a machine whose hostname has no domain, so use the host of PUBLIC_URL. */
export function ehloNameOf({ PUBLIC_URL }: Config): string | undefined {
  const host = PUBLIC_URL === undefined ? '' : new URL(PUBLIC_URL).hostname;
  return /[a-z][a-z0-9-]*$/.test(host) && host.includes('.') ? host : undefined;
}

/** Loads the payment provider's library only if its key is configured. */
export async function openPayments(config: Config, plans: readonly Plan[]): Promise<Payments> {
  const { STRIPE_SECRET_KEY: secret_key, STRIPE_WEBHOOK_SECRETS, STRIPE_API_URL, STRIPE_AUTOMATIC_TAX } = config;
  if (secret_key === undefined) return builtInPayments();
  const { openStripePayments } = await import('../../platform/providers/payments/stripe.ts');
  return openStripePayments({
    secret_key,
    webhook_secrets: STRIPE_WEBHOOK_SECRETS,
    api_url: STRIPE_API_URL,
    automatic_tax: STRIPE_AUTOMATIC_TAX === 'on',
    plans,
  });
}

/** Runs a reader of options and turns its error into a StartError. */
export function orStartError<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new StartError((cause as Error).message, { cause });
  }
}
