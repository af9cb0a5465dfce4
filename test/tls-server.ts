import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { cleanUp } from './clean-up.ts';
import { freePort } from './process.ts';

/** Starts a server whose certificate is valid for a day. `end`: its expiry, in seconds since the epoch. */
export async function startTlsServer(folder: string): Promise<{ url: string; end: number }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const run = (...args: string[]) => promisify(execFile)('openssl', args);
  await run(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
    ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
  );
  const { stdout } = await run('x509', '-in', cert, '-noout', '-enddate');
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  cleanUp(() => void server.close());
  return { url: `https://localhost:${port}`, end: Date.parse(stdout.replace('notAfter=', '')) / 1_000 };
}
