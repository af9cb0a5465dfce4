import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { existingPart } from '../../operator/checks/disk-check.ts';
import { type Finding, ok, problem, type Subject, warning } from '../../operator/checks/finding.ts';

/** Checks that this user may use the folders, and that other users cannot read or change secrets. */
export async function checkPermissions({ config, files }: Subject): Promise<Finding[]> {
  const { DATA_DIR, BACKUP_URL, BACKUP_KEY_FILE } = config;
  const folders = [DATA_DIR, ...(BACKUP_URL?.startsWith('file:') ? [fileURLToPath(BACKUP_URL)] : [])];
  const keys = [join(DATA_DIR, 'report-key.pem'), ...(BACKUP_KEY_FILE ? [BACKUP_KEY_FILE] : []), ...files];
  const found = await Promise.all([...folders.map(checkFolder), checkPrivacy(DATA_DIR), ...keys.map(checkPrivacy)]);
  const wrong = found.filter((finding) => finding !== undefined);
  return wrong.length > 0 ? wrong : [ok(`only the service may access ${folders.join(' and ')}`)];
}

async function checkFolder(folder: string): Promise<Finding | undefined> {
  const there = await existingPart(folder);
  try {
    await access(there, constants.R_OK | constants.W_OK | constants.X_OK);
    if ((await stat(there)).isDirectory()) return undefined;
    return problem(`${there} is not a folder`, 'move that file away, or set another folder');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return problem(
      `user ${process.getuid?.()} cannot read, write and enter ${there} (${code})`,
      'run this as the user of the service; if it is, change the owner or the mode of the folder',
    );
  }
}

/** Files below /run are secrets mounted into a container, which has no other users. */
async function checkPrivacy(path: string): Promise<Finding | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  const shown = (found.mode & 0o7777).toString(8).padStart(4, '0');
  if (found.mode & 0o002) return problem(`any user can change ${path} (mode ${shown})`, `chmod o-rwx ${path}`);
  if (!(found.mode & 0o004) || /^(\/var)?\/run\//.test(path)) return undefined;
  return warning(`any user can read ${path} (mode ${shown})`, `chmod o-rwx ${path}`);
}

/** Checks whether the service answers on this machine. */
export async function checkService({ config: { ROLE, HOST, PORT, METRICS_PORT } }: Subject): Promise<Finding[]> {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  const at = `http://${host.includes(':') ? `[${host}]` : host}:`;
  if (ROLE === 'worker' && METRICS_PORT === undefined) return [ok('a worker without METRICS_PORT has no address')];
  const url = ROLE === 'worker' ? `${at}${METRICS_PORT}/metrics` : `${at}${PORT}/readyz`;
  let answer: Response;
  try {
    answer = await fetch(url, { redirect: 'manual' });
  } catch {
    return [
      warning(`${url} does not answer`, 'if the service should be running, start it; its log says why it stopped'),
    ];
  }
  const text = await answer.text();
  if (answer.status === 200) return [ok(`${url} answers`)];
  if (answer.status === 503) return [problem(`${url} answers 503: ${text.slice(0, 200)}`, 'see "database" below')];
  return [problem(`another program answers at ${url} (${answer.status})`, 'stop it, or set PORT to a free port')];
}
