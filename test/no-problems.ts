import assert from 'node:assert/strict';

/** Fails with these sentences as they are, so that what they quote can be pasted. */
export function noProblems(sentences: readonly (string | false | undefined)[]): void {
  const problems = sentences.filter(Boolean);
  if (problems.length > 0) assert.fail(`\n\n${problems.join('\n\n')}\n`);
}
