import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePort, makeFolder } from './process.ts';

/** The part of the package that is used here; it has no types of its own. */
interface S3rver {
  run(): Promise<unknown>;
  close(): Promise<void>;
  httpServer: Server;
}
const S3rver: new (options: object) => S3rver = createRequire(import.meta.url)('@20minutes/s3rver');

export interface S3Server {
  /** A STORAGE_URL for its bucket. */
  url: string;
  start(): Promise<void>;
  /** It answers nothing any more, until it is started again; what it has it keeps. */
  stop(): Promise<void>;
}

/** An S3 server of its own on a loopback port, with a bucket; it keeps objects in files. */
export async function startS3Server(): Promise<S3Server> {
  const directory = join(await makeFolder(), 's3');
  const port = await freePort();
  const configureBuckets = [{ name: 'wiki' }];
  let server: S3rver | undefined;
  const start = async () => {
    // It makes the signature of a list otherwise than Amazon's own client, so it does not insist on signatures.
    const options = { silent: true, allowMismatchedSignatures: true, configureBuckets };
    server = new S3rver({ address: '127.0.0.1', port, directory, ...options });
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
