/** Variables that PostgreSQL's programs need to be found, to load their libraries and to place temporary files. */
const INHERITED = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'DYLD_FALLBACK_LIBRARY_PATH'];

/**
 * Returns the environment of the programs that this folder starts: only the listed variables. Ibid's own environment
 * contains secrets (SMTP_URL, OIDC_CLIENT_SECRET, STORAGE_URL), which a process that runs as another user must not be
 * able to read. It may also contain variables for other PostgreSQL programs (PGDATA, PGOPTIONS).
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.includes(name));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C' };
}
