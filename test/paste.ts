import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

/**
 * Runs the shell blocks of a document in one bash, as a reader who pastes them, against the service at `address`. Returns the
 * output of each block. Fails at the first command that fails.
 */
export async function pasteBlocks(
  document: string,
  { address, database, cwd }: { address: string; database: string; cwd: string },
): Promise<string[]> {
  const blocks = [...readFileSync(`${ROOT}${document}`, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env: { PATH: process.env.PATH, DATABASE_URL: database, DATA_DIR: cwd },
  });
  const output = { out: '', error: '' };
  shell.stdout.setEncoding('utf8').on('data', (text) => (output.out += text));
  shell.stderr.setEncoding('utf8').on('data', (text) => (output.error += text));
  const script = blocks.map(([, block = '']) =>
    block.replaceAll('http://127.0.0.1:8080', address).replaceAll(/\bnpx ibid\b/g, 'ibid'),
  );
  const cli = `'${process.execPath}' '${ROOT}src/operation/cli/ibid.ts'`;
  shell.stdin.end(
    `ibid() { ${cli} "$@"; }\ntrap 'echo "failed: $BASH_COMMAND"; exit 1' ERR\n${script.join('\necho; echo ---\n')}`,
  );
  const [code] = await once(shell, 'close');
  assert.equal(code, 0, `${output.out}\n${output.error}`);
  return output.out.split(/^---\n/m).map((text) => text.trim());
}
