import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, request as forward, type IncomingMessage, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readS3Url } from '../src/platform/providers/storage/s3-place.ts';
import { freePort, makeFolder } from './process.ts';

/** The used part of the package, which has no types. */
interface S3rver {
  run(): Promise<unknown>;
  close(): Promise<void>;
  httpServer: Server;
  middleware: ((request: Exchange, next: () => Promise<void>) => Promise<void>)[];
}

interface Exchange {
  method: string;
  path: string;
  query: Record<string, string>;
  status: number;
  type: string;
  body: string;
}
const S3rver: new (options: object) => S3rver = createRequire(import.meta.url)('@20minutes/s3rver');

export interface S3Server {
  /** A STORAGE_URL for its bucket. */
  url: string;
  start(): Promise<void>;
  /** Stops answering until it is started again; its data stays. */
  stop(): Promise<void>;
}

/** Creates an S3 server on a loopback port with one bucket. It stores objects as files. */
export async function startS3Server(): Promise<S3Server> {
  const directory = join(await makeFolder(), 's3');
  const port = await freePort();
  const configureBuckets = [{ name: 'wiki' }];
  let server: S3rver | undefined;
  const start = async () => {
    // It computes the signature of a list request differently from Amazon's client, so it must accept mismatches.
    const options = { silent: true, allowMismatchedSignatures: true, configureBuckets };
    server = new S3rver({ address: '127.0.0.1', port, directory, ...options });
    server.middleware.unshift(aboutUnfinished(join(directory, 'wiki', '._S3rver_uploads')));
    await server.run();
  };
  await start();
  return {
    url: `s3://S3RVER:S3RVER@127.0.0.1:${port}/wiki/folder?region=eu-central-1`,
    start,
    async stop() {
      const stopping = server?.close();
      server?.httpServer.closeAllConnections();
      server = undefined;
      await stopping;
    },
  };
}

export interface S3Proxy {
  /** The server's STORAGE_URL with the proxy's port. */
  url: string;
  stop(): void;
}

/**
 * Starts a proxy in front of an S3 server, on a loopback port of its own. Forwards each request after `look` has
 * resolved, unless `look` has closed its connection.
 */
export async function startS3Proxy(
  server: S3Server,
  look: (request: IncomingMessage) => void | Promise<void>,
): Promise<S3Proxy> {
  const { hostname, port } = new URL(readS3Url(server.url).endpoint);
  const proxy = createServer(async (request, response) => {
    await look(request);
    if (request.socket.destroyed) return;
    const { url: path, method, headers } = request;
    const onward = forward({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const place = new URL(server.url);
  place.port = String((proxy.address() as AddressInfo).port);
  return {
    url: place.href,
    stop() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

/** A small page size, so that a list has several pages. */
const PAGE = 2;

/**
 * Adds two requests that the package lacks: list unfinished multipart uploads, and abort an upload. They work on the
 * package's files.
 */
function aboutUnfinished(folder: string): S3rver['middleware'][number] {
  return async (exchange, next) => {
    const { method, query } = exchange;
    if (method === 'GET' && 'uploads' in query) {
      exchange.type = 'application/xml';
      exchange.body = await listOf(folder, query);
    } else if (method === 'DELETE' && query.uploadId !== undefined) {
      exchange.status = 204;
      await rm(join(folder, query.uploadId), { recursive: true });
    } else await next();
  };
}

async function listOf(folder: string, query: Record<string, string>): Promise<string> {
  const { prefix = '', 'key-marker': afterKey = '', 'upload-id-marker': afterId = '' } = query;
  const all = [];
  for (const id of await readdir(folder).catch(() => [])) {
    const key = await readFile(join(folder, id, 'key'), 'utf8');
    const { birthtime } = await stat(join(folder, id, 'key'));
    const isBehind = key > afterKey || (key === afterKey && id > afterId);
    if (key.startsWith(prefix) && isBehind) all.push({ key, id, begun: birthtime.toISOString() });
  }
  const page = all.sort((a, b) => (`${a.key} ${a.id}` < `${b.key} ${b.id}` ? -1 : 1)).slice(0, PAGE);
  const last = page.at(-1);
  const uploads = page.map(
    ({ key, id, begun }) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun}</Initiated></Upload>`,
  );
  const more = `<IsTruncated>${all.length > page.length}</IsTruncated>`;
  const marks = `<NextKeyMarker>${last?.key ?? ''}</NextKeyMarker><NextUploadIdMarker>${last?.id ?? ''}</NextUploadIdMarker>`;
  return `<ListMultipartUploadsResult>${more}${marks}${uploads.join('')}</ListMultipartUploadsResult>`;
}
