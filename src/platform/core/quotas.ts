import { ApiError } from './errors.ts';

/** The quotas of a workspace: noun, advice on how to free some of it, and default limit. */
const QUOTAS = {
  bytes: {
    noun: 'stored',
    advice: 'Delete sources, attachments or wikis; deleted pages count until they are purged',
    fallback: 100 * 2 ** 30,
  },
  pages: { noun: 'pages', advice: 'Delete pages; those in the trash count until they are purged', fallback: 1_000_000 },
  files: {
    noun: 'files of unfinished uploads',
    advice: 'Wait until uploads have finished, or cancel some',
    fallback: 100_000,
  },
  wikis: { noun: 'wikis', advice: 'Delete one', fallback: 1_000 },
  invitations: { noun: 'pending invitations', advice: 'Revoke some', fallback: 1_000 },
  keys: { noun: 'API keys', advice: 'Revoke some', fallback: 1_000 },
  jobs: { noun: 'unfinished jobs', advice: 'Wait until some have finished, or cancel them', fallback: 1_000 },
} as const;

export type QuotaName = keyof typeof QUOTAS;

export const QUOTA_NAMES = Object.keys(QUOTAS) as QuotaName[];

/** Limits by name; null means unlimited. Omitted names have the service's default limit. */
export type Quotas = { [Name in QuotaName]?: number | null };

/** Limits of a workspace for which neither the plan nor the operator sets others. */
export const DEFAULT_QUOTAS = Object.fromEntries(QUOTA_NAMES.map((name) => [name, QUOTAS[name].fallback])) as Quotas;

const UNITS: Record<string, number> = {
  '': 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/**
 * Parses a limit: a number, a size such as 10GB or 512MiB for bytes, or "unlimited". Throws an Error that describes the
 * accepted values.
 */
export function readQuota(name: QuotaName, text: string): number | null {
  if (text === 'unlimited') return null;
  const [, amount = '', unit = ''] = /^(\d{1,15})\s*([kmgt]i?b)?$/i.exec(text) ?? [];
  const limit =
    amount === '' || (unit !== '' && name !== 'bytes') ? Number.NaN : Number(amount) * (UNITS[unit.toLowerCase()] ?? 1);
  if (!Number.isSafeInteger(limit)) {
    throw new Error(name === 'bytes' ? 'a size such as 10GB, or unlimited' : 'a whole number, or unlimited');
  }
  return limit;
}

/** Parses `bytes=10GB,pages=5000`. Throws an Error that describes the accepted values. */
export function readQuotas(text: string): Quotas {
  const quotas: Quotas = {};
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const [name = '', value = ''] = entry.split('=').map((part) => part.trim());
    const known = QUOTA_NAMES.find((candidate) => candidate === name);
    if (!known) throw new Error(`limits such as bytes=10GB,pages=unlimited, of ${QUOTA_NAMES.join(', ')}`);
    try {
      quotas[known] = readQuota(known, value);
    } catch (cause) {
      throw new Error(`for ${known} ${(cause as Error).message}`, { cause });
    }
  }
  return quotas;
}

/** Formats an amount for people: 1,234 or 1.5 GiB. */
export function quotaAmount(name: QuotaName, amount: number): string {
  return name === 'bytes' ? byteAmount(amount) : amount.toLocaleString('en');
}

/** Formats a number of bytes for people: 1.5 GiB. */
export function byteAmount(amount: number): string {
  const power = amount < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(amount) / 10));
  const [unit = ''] = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'].slice(power);
  return `${(amount / 1024 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${unit}`;
}

interface Exceeded {
  name: QuotaName;
  used: number;
  allowed: number;
}

/** 409 `quota_exceeded`. `used` is the total that the write would have reached. */
export function quotaExceeded({ name, used, allowed }: Exceeded, cause?: unknown): ApiError {
  const { noun, advice } = QUOTAS[name];
  const [limit, total] = [quotaAmount(name, allowed), quotaAmount(name, used)];
  const exact = limit === total ? ` (${used.toLocaleString('en')} of ${allowed.toLocaleString('en')})` : '';
  return new ApiError(
    'quota_exceeded',
    `The workspace is limited to ${limit} ${noun}, and this would bring it to ${total}${exact}. ${advice}, or ask the operator for a higher limit.`,
    { cause },
  );
}

/** Converts the error raised by the `quota` trigger into the client's error. */
export function quotaErrorOf(cause: unknown): ApiError {
  return quotaExceeded(JSON.parse((cause as { detail: string }).detail) as Exceeded, cause);
}
