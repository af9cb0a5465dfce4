/**
 * Why a test that needs something of the machine is skipped: the sentence, which says what to do, or false where it can run.
 * Where CI is set nothing is skipped: the test's file fails with the sentence.
 */
export function skipUnless(isThere: boolean, sentence: string): string | false {
  if (isThere) return false;
  if (process.env.CI) throw new Error(sentence);
  return sentence;
}
