import fc from 'fast-check';

const CODE_POINTS = 0x11_0000;
const [SURROGATES, SURROGATES_COUNT] = [0xd800, 0x800];

/**
 * Well-formed texts of any characters, with lengths in code points. As fc.string with the unit "binary", which takes a
 * second to list all characters in each process.
 */
export function anyText(lengths: { minLength?: number; maxLength: number }): fc.Arbitrary<string> {
  const points = fc.array(fc.integer({ min: 0, max: CODE_POINTS - SURROGATES_COUNT - 1 }), lengths);
  return points.map((list) =>
    String.fromCodePoint(...list.map((point) => (point < SURROGATES ? point : point + SURROGATES_COUNT))),
  );
}
