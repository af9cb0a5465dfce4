import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { Gauge, type Registry } from 'prom-client';
import { readS3Url } from '../../../platform/providers/storage/s3-place.ts';
import type { Config } from '../../config.ts';

/** How often certificates are read, and the time limit for a server to present its own. */
const EVERY_MS = 3_600_000;
const ANSWER_MS = 5_000;

const PORTS: Record<string, number> = { 'https:': 443, 's3:': 443, 'smtps:': 465 };

/** Returns the servers with implicit TLS, labelled by purpose. */
export function tlsServersOf(config: Config): { place: string; host: string; port: number }[] {
  const urls = {
    public: config.PUBLIC_URL,
    issuer: config.OIDC_ISSUER,
    files: config.STORAGE_URL,
    backups: config.BACKUP_URL,
    mail: config.SMTP_URL,
  };
  return Object.entries(urls).flatMap(([place, text]) => {
    const url = text === undefined ? null : URL.parse(text);
    // The endpoint of a local bucket uses TLS only if it says so.
    if (url?.protocol === 's3:' && readS3Url(url.href, place).endpoint.startsWith('http:')) return [];
    const port = url && PORTS[url.protocol];
    if (!url || !port) return [];
    return [{ place, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || port }];
  });
}

/**
 * Registers the expiry of the certificates of servers that users and this process connect to. A scrape reports cached
 * values and does not wait for the servers.
 */
export function registerCertificateMetrics(registry: Registry, config: Config, onFailed: (err: unknown) => void): void {
  const servers = tlsServersOf(config);
  const ends = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  async function look(): Promise<void> {
    for (const server of servers) {
      try {
        ends.set(server.place, (await readCertificate(server)).end);
      } catch (error) {
        ends.delete(server.place);
        onFailed(error);
      }
    }
  }
  new Gauge({
    name: 'ibid_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of a server expires: of PUBLIC_URL, the issuer, the bucket of files or backups, or smtps.',
    labelNames: ['place'],
    registers: [registry],
    collect() {
      if (performance.now() - lookedAt > EVERY_MS) {
        lookedAt = performance.now();
        void look();
      }
      this.reset();
      for (const [place, seconds] of ends) this.set({ place }, seconds);
    },
  });
}

/**
 * Returns the expiry of a server's certificate in seconds since the epoch, and the reason if this machine does not
 * trust it.
 */
export function readCertificate(server: {
  host: string;
  port: number;
}): Promise<{ end: number; distrust: string | undefined }> {
  const { host, port } = server;
  return new Promise((resolve, reject) => {
    // No data is sent, and expired or untrusted certificates must be readable too.
    const socket = connect({
      ...{ host, port, rejectUnauthorized: false, timeout: ANSWER_MS },
      // SNI allows no IP addresses (RFC 6066).
      ...(isIP(host) === 0 && { servername: host }),
    });
    socket.once('secureConnect', () => {
      const distrust = socket.authorized ? undefined : String(socket.authorizationError);
      resolve({ end: Date.parse(socket.getPeerCertificate().valid_to) / 1_000, distrust });
      socket.end();
    });
    socket.once('timeout', () => socket.destroy(new Error(`${host}:${port} did not present its certificate`)));
    socket.once('error', reject);
  });
}
