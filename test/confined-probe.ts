import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { disableNetwork } from '../src/platform/sandbox/no-network.ts';

/**
 * Tries forbidden actions in a confined process, and prints those that succeeded. Arguments: a port, and "bare" to keep
 * the system's network.
 */
const [, , port = '0', network] = process.argv;
if (network !== 'bare') disableNetwork();

const ATTEMPTS: Record<string, () => unknown> = {
  'read a file': () => readFileSync('/etc/passwd'),
  'write a file': () => writeFileSync('/tmp/ibid-confined-probe', ''),
  'start a process': () => execFileSync('true'),
  'start a thread': () => new Worker('1', { eval: true }),
  'run text as code': () => new Function('return 1')(),
  'see the environment': () =>
    Object.keys(process.env).filter((name) => !['PATH', 'PWD'].includes(name)).length || refuse(),
  'read its program': () => process.permission.has('fs.read', '/etc') || refuse(),
  connect: () =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => resolve('connected'));
      socket.once('error', reject);
    }),
};

function refuse(): never {
  throw new Error('refused');
}

const succeeded: string[] = [];
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  try {
    await attempt();
    succeeded.push(name);
  } catch {
    // Refused, as expected.
  }
}
process.stdout.write(JSON.stringify(succeeded));
process.exit();
