import { isIP } from 'node:net';
import { SESSION_TARGETS, sessionTarget, splitServers } from '../../platform/core/database-url.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { GROUP_ROLES, type GroupRole, readGroupRoles } from '../../platform/core/sign-in/group-roles.ts';
import { readMailDomain } from '../../platform/core/sign-in/mail-domains.ts';

// Parsers of option values. Each throws an Error that describes the accepted values.

export const text = (value: string) => value;
export const optional = (value: string) => (value === '' ? undefined : value);

export function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) throw new Error('a port number from 0 to 65535');
  return number;
}

export function bytes(value: string): number {
  const [, amount, unit] = /^(\d+)\s*(KiB|MiB|GiB)?$/i.exec(value) ?? [];
  if (!amount || Number(amount) === 0) throw new Error('a size such as 512KiB, 100MiB or 1GiB');
  const power = { kib: 1, mib: 2, gib: 3 }[unit?.toLowerCase() as 'kib'] ?? 0;
  return Number(amount) * 1024 ** power;
}

export function count(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error('a whole number from 1 to 999999');
  return Number(value);
}

export function upTo(max: number): (value: string) => number {
  return (value) => {
    if (!/^\d{1,9}$/.test(value) || Number(value) > max) throw new Error(`a whole number from 0 to ${max}`);
    return Number(value);
  };
}

export function niceValue(value: string): number {
  if (!/^1?\d$/.test(value)) throw new Error('a nice value from 0 to 19');
  return Number(value);
}

export function share(value: string): number {
  if (!/^(0|1|0?\.\d+|1\.0+)$/.test(value)) throw new Error('a share from 0 to 1, such as 0.1');
  return Number(value);
}

const UNITS = { s: 1, min: 60, h: 3600 };

/** Parses a rate: 600/min, 20/h, 5/10s. A plain number uses the time unit `usual`. */
export const rate = (usual: 'min' | 'h') => (value: string) => {
  const [, quota, , amount = '1', unit = usual] = /^([1-9]\d{0,5})(\/([1-9]\d{0,3})?(s|min|h))?$/.exec(value) ?? [];
  if (!quota) throw new Error('a number per time, such as 600/min, 20/h or 5/10s');
  return { quota: Number(quota), windowSeconds: Number(amount) * UNITS[unit as keyof typeof UNITS] };
};

export function networks(value: string): string[] {
  const list = value.split(',').map((entry) => entry.trim());
  const isNetwork = (entry: string) => {
    const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
  };
  if (value === '') return [];
  if (!list.every(isNetwork)) throw new Error('addresses and networks separated by commas, such as 10.0.0.1,fd00::/8');
  return list;
}

export function addresses(value: string): string[] {
  if (value === '') return [];
  return value.split(',').map((entry) => {
    const address = normalizeEmail(entry);
    if (address === undefined) throw new Error('e-mail addresses separated by commas');
    return address;
  });
}

export function groupRoles(value: string): GroupRole[] {
  const roles = readGroupRoles(value);
  if (roles) return roles;
  throw new Error(
    `GROUP=WORKSPACE:ROLE separated by commas, such as wiki-admins=acme:admin,staff=acme:member, with the roles ${GROUP_ROLES.join(', ')}`,
  );
}

/** Keeps a leading dot, which stands for all subdomains. */
export function mailDomains(value: string): string[] {
  if (value === '') return [];
  return value.split(',').map((entry) => {
    const [, dot = '', name = ''] = /^(\.?)(.*)$/.exec(entry.trim()) ?? [];
    const domain = readMailDomain(name);
    if (domain === undefined) throw new Error('domains separated by commas, such as example.com,.example.com');
    return dot + domain;
  });
}

export function webhookSecrets(value: string): string[] {
  const secrets = value === '' ? [] : value.split(',').map((secret) => secret.trim());
  if (secrets.length > 2 || !secrets.every((secret) => /^whsec_\w+$/.test(secret))) {
    throw new Error('one or two secrets that start with whsec_, separated by a comma');
  }
  return secrets;
}

export const oneOf =
  <T extends string>(...values: T[]) =>
  (value: string): T => {
    const found = values.find((candidate) => candidate === value);
    if (!found) throw new Error(`one of ${values.join(', ')}`);
    return found;
  };

export function url(...protocols: string[]) {
  return (value: string): string | undefined => {
    if (value === '') return undefined;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new Error(`an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    }
    return value.replace(/\/$/, '');
  };
}

/** Parses the address of the service as a browser's origin. The service is at its root. */
export function origin(value: string): string | undefined {
  const address = url('http:', 'https:')(value);
  if (address === undefined) return undefined;
  const { pathname, search, hash, username, password, origin } = new URL(value);
  if (pathname !== '/' || /[?#]/.test(value) || search + hash + username + password !== '') {
    throw new Error(
      `only a scheme, a host and a port, such as ${origin}; the service cannot run below a path, so give it its own host name`,
    );
  }
  return origin;
}

/** Parses the address of a PostgreSQL, or of several servers with one primary. */
export function databaseUrl(value: string): string | undefined {
  const read = url('postgres:', 'postgresql:');
  for (const each of splitServers(value)) read(each);
  if (!SESSION_TARGETS.includes(sessionTarget(value))) {
    throw new Error(`an address with target_session_attrs set to one of ${SESSION_TARGETS.join(', ')}`);
  }
  return value === '' ? undefined : value;
}

/** Parses addresses of single servers, separated by spaces, which no address contains. */
export function databaseUrls(value: string): string[] {
  const read = url('postgres:', 'postgresql:');
  const urls = value.split(/\s+/).filter(Boolean);
  for (const each of urls) read(each);
  return urls;
}
