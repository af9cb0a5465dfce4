/** Two are read while two are rendered. */
const AHEAD = 4;

/**
 * What `compile` makes of each file, in their order, while those behind it are under way already. Ends early when
 * `stopping` is aborted; whatever ends it, nothing is under way any more when it has ended.
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
      // Its failure is thrown where it is waited for; until then it is not an unhandled one.
      compiling.catch(() => undefined);
    }
    for (const compiling of ahead) yield await compiling;
  } finally {
    await Promise.allSettled(ahead);
  }
}
