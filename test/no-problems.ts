import assert from 'node:assert/strict';

/** Throws an error that lists these sentences verbatim, so that quoted parts can be pasted. */
export function noProblems(sentences: readonly (string | false | undefined)[]): void {
  const problems = sentences.filter(Boolean);
  if (problems.length > 0) assert.fail(`\n\n${problems.join('\n\n')}\n`);
}
