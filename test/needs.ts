/**
 * Returns the `skip` option of a test that needs something of the machine: false if it can run, else a sentence that
 * says what to install. Throws that sentence if CI is set, so that the test's file fails.
 */
export function skipUnless(isThere: boolean, sentence: string): string | false {
  if (isThere) return false;
  if (process.env.CI) throw new Error(sentence);
  return sentence;
}
