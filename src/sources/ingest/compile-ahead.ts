/** Two files can be read while two are rendered. */
const AHEAD = 4;

/**
 * Yields the result of `compile` for each file in order, while later files are already being compiled. Ends early when
 * `stopping` is aborted. All started compilations have settled when it ends.
 */
export async function* compiledAhead<File, Compiled>(
  files: Iterable<File>,
  compile: (file: File) => Promise<Compiled>,
  stopping: AbortSignal,
): AsyncGenerator<Compiled> {
  const ahead: Promise<Compiled>[] = [];
  try {
    for (const file of files) {
      if (ahead.length === AHEAD) yield (await ahead.shift()) as Compiled;
      if (stopping.aborted) return;
      const compiling = compile(file);
      ahead.push(compiling);
      // A rejection is thrown where the result is awaited; until then, keep it from being an unhandled rejection.
      compiling.catch(() => undefined);
    }
    for (const compiling of ahead) yield await compiling;
  } finally {
    await Promise.allSettled(ahead);
  }
}
