import { domainToASCII } from 'node:url';

const NAME = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u;

/**
 * Normalizes a domain for comparison: ASCII, lower case, without a trailing dot. Returns undefined if it is not a
 * domain name.
 */
export function readMailDomain(text: string): string | undefined {
  const name = text.replace(/\.$/, '');
  return (NAME.test(name) && domainToASCII(name)) || undefined;
}

/**
 * Returns whether an address belongs to one of the domains. A domain with a leading dot matches its subdomains. An
 * empty list matches all addresses.
 */
export function isOfDomains(email: string, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const domain = readMailDomain(email.slice(email.lastIndexOf('@') + 1));
  if (domain === undefined || !email.includes('@')) return false;
  return domains.some((allowed) => (allowed.startsWith('.') ? domain.endsWith(allowed) : domain === allowed));
}
