import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

interface Pasting {
  cwd: string;
  env: Record<string, string | undefined>;
  /** Only the blocks below this heading of level 2. */
  section?: string;
  /** Changes a block before it runs. */
  rewrite?: (block: string) => string;
  /** Commands in front of the first block. */
  prelude?: string;
}

/**
 * Runs the shell blocks of a document in one bash, as a reader who pastes them. Returns the output of each block. Fails at the
 * first command that fails.
 */
export async function pasteBlocks(document: string, pasting: Pasting): Promise<string[]> {
  const { cwd, env, section, rewrite = (block) => block, prelude = '' } = pasting;
  const text = readFileSync(`${ROOT}${document}`, 'utf8');
  const part =
    section === undefined ? text : (text.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '');
  const blocks = [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => rewrite(block));
  assert.ok(blocks.length > 0, `${document} has no blocks to paste`);
  const shell = spawn('bash', ['--noprofile', '--norc', '-o', 'pipefail'], { cwd, env });
  const output = { out: '', error: '' };
  shell.stdout.setEncoding('utf8').on('data', (text) => (output.out += text));
  shell.stderr.setEncoding('utf8').on('data', (text) => (output.error += text));
  shell.stdin.end(`${prelude}\ntrap 'echo "failed: $BASH_COMMAND"; exit 1' ERR\n${blocks.join('\necho; echo ---\n')}`);
  const [code] = await once(shell, 'close');
  assert.equal(code, 0, `${output.out}\n${output.error}`);
  return output.out.split(/^---\n/m).map((text) => text.trim());
}

/** Runs the blocks of a document that addresses the service at http://127.0.0.1:8080, with `npx ibid` from this checkout. */
export function pasteForService(
  document: string,
  { address, database, cwd, prelude = '' }: { address: string; database: string; cwd: string; prelude?: string },
): Promise<string[]> {
  return pasteBlocks(document, {
    cwd,
    env: { PATH: process.env.PATH, DATABASE_URL: database, DATA_DIR: cwd },
    rewrite: (block) => block.replaceAll('http://127.0.0.1:8080', address).replaceAll(/\bnpx ibid\b/g, 'ibid'),
    prelude: `${prelude}\nibid() { '${process.execPath}' '${ROOT}src/operation/cli/ibid.ts' "$@"; }`,
  });
}
