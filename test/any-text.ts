import fc from 'fast-check';

const CODE_POINTS = 0x11_0000;
const [SURROGATES, SURROGATES_COUNT] = [0xd800, 0x800];

/**
 * Generates well-formed texts of any characters, with lengths in code points. Like fc.string with the unit "binary",
 * which spends a second per process listing all characters.
 */
export function anyText(lengths: { minLength?: number; maxLength: number }): fc.Arbitrary<string> {
  const points = fc.array(fc.integer({ min: 0, max: CODE_POINTS - SURROGATES_COUNT - 1 }), lengths);
  return points.map((list) =>
    String.fromCodePoint(...list.map((point) => (point < SURROGATES ? point : point + SURROGATES_COUNT))),
  );
}
