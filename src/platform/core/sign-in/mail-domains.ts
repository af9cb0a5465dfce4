import { domainToASCII } from 'node:url';

const NAME = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u;

/** A domain as it is compared: ASCII, lower case, without a dot at the end; undefined for anything that is no name. */
export function readMailDomain(text: string): string | undefined {
  const name = text.replace(/\.$/, '');
  return (NAME.test(name) && domainToASCII(name)) || undefined;
}

/** Whether an address is of one of the domains. One that begins with a dot stands for its subdomains. No domains: all addresses. */
export function isOfDomains(email: string, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const domain = readMailDomain(email.slice(email.lastIndexOf('@') + 1));
  if (domain === undefined || !email.includes('@')) return false;
  return domains.some((allowed) => (allowed.startsWith('.') ? domain.endsWith(allowed) : domain === allowed));
}
