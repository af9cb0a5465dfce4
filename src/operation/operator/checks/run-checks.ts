import { type Check, type NamedFinding, problem, reasonOf } from './finding.ts';

/**
 * SQLSTATEs of tables, columns and functions that a pending migration would create; the schema check reports the
 * migration.
 */
const NOT_MIGRATED = ['42P01', '42703', '42883'];

/** Runs all checks concurrently, each for at most `limitMs`. A check that throws becomes a problem. */
export async function runChecks<S>(
  checks: Record<string, Check<S>>,
  subject: S,
  limitMs: number,
): Promise<NamedFinding[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([check, look]) => {
      const findings = await within(limitMs, look(subject)).catch((error: unknown) => {
        if (NOT_MIGRATED.includes((error as { code?: string }).code ?? '')) return [];
        return [problem(reasonOf(error), 'this is unexpected; the message says where to look')];
      });
      return findings.map((finding) => ({ check, ...finding }));
    }),
  );
  return found.flat();
}

/** Rejects when `ms` have passed. The work is abandoned, not cancelled: it ends with the process. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${Math.ceil(ms / 1_000)} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
