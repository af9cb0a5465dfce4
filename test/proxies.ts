import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { cleanUp } from './clean-up.ts';
import { skipUnless } from './needs.ts';
import { freePort, makeFolder } from './process.ts';
import { until } from './until.ts';

const DOCUMENT = fileURLToPath(new URL('docs/operations/proxy.md', PACKAGE));
const NGINX = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path));
const CADDY = ['/usr/bin/caddy', '/usr/local/bin/caddy'].find((path) => existsSync(path));

export const skipProxies: string | false = skipUnless(
  NGINX !== undefined && CADDY !== undefined,
  'Install nginx and Caddy (apt-get install --no-install-recommends nginx caddy): tests of the settings of proxies start both.',
);

/** A running proxy. Its address is https if it has a certificate. */
export interface RunningProxy {
  address: string;
  /** The certificate to trust, as PEM; empty without TLS. */
  ca: string;
}

/** Returns a block of the document for operators verbatim. Throws an Error if no block has this language. */
export function documentedBlock(language: string): string {
  const [, block] =
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  if (block === undefined) throw new Error(`docs/operations/proxy.md has no block of ${language}`);
  return block;
}

/** Starts nginx with the documented block. Only its addresses and certificate are replaced. */
export async function startDocumentedNginx(service: string): Promise<RunningProxy> {
  const [folder, port] = [await makeFolder(), await freePort()];
  const { cert, key, ca } = await makeCertificate(folder);
  const server = replaceAll(documentedBlock('nginx'), {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/certs/wiki.example.com.pem': cert,
    '/etc/ssl/private/wiki.example.com.key': key,
    'http://127.0.0.1:8080': service,
  });
  await runNginx(folder, server, port);
  return { address: `https://localhost:${port}`, ca };
}

/** Starts nginx with defaults: only the address of the service is set. */
export async function startDefaultNginx(service: string, setting = ''): Promise<RunningProxy> {
  const [folder, port] = [await makeFolder(), await freePort()];
  const location = `location / { proxy_pass ${service}; proxy_set_header Host $http_host; }`;
  await runNginx(folder, `server { listen 127.0.0.1:${port}; ${setting} ${location} }`, port);
  return { address: `http://127.0.0.1:${port}`, ca: '' };
}

export async function startDocumentedCaddy(service: string): Promise<RunningProxy> {
  const [folder, port] = [await makeFolder(), await freePort()];
  const { cert, key, ca } = await makeCertificate(folder);
  const site = replaceAll(documentedBlock('caddyfile'), {
    // Use the certificate of this test instead of fetching one.
    'wiki.example.com {': `https://localhost:${port} {\n  tls ${cert} ${key}`,
    '127.0.0.1:8080': new URL(service).host,
  });
  const config = join(folder, 'Caddyfile');
  await writeFile(config, `{\n  admin off\n  auto_https disable_redirects\n}\n${site}`);
  await run(CADDY ?? 'caddy', ['run', '--config', config, '--adapter', 'caddyfile'], folder, port);
  return { address: `https://localhost:${port}`, ca };
}

function replaceAll(text: string, changes: Record<string, string>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the block in docs/operations/proxy.md has no "${from}"`);
    return changed.replaceAll(from, to);
  }, text);
}

async function runNginx(folder: string, server: string, port: number): Promise<void> {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path ${folder}/${it};`);
  const config = join(folder, 'nginx.conf');
  // As root, nginx runs its workers as another user, who may not enter the folder of a test.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    config,
    `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
events {}
http { access_log off; ${paths.join(' ')}
${server}
}`,
  );
  await run(NGINX ?? 'nginx', ['-p', folder, '-e', 'stderr', '-c', config], folder, port);
}

/** Runs a proxy until the tests of the file have ended. Resolves when it listens. */
async function run(program: string, args: string[], folder: string, port: number): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  const ended = once(child, 'close');
  cleanUp(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await until(`${program} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${printed}`);
    return answers(port);
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function makeCertificate(folder: string): Promise<{ cert: string; key: string; ca: string }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
  ]);
  return { cert, key, ca: readFileSync(cert, 'utf8') };
}
