import { COUNT_MAX, EXCERPT_MAX, LOSS_KINDS, LOSSES_MAX, PLACE_MAX } from '@ibid/documents/formats/losses.ts';
import { Type } from 'typebox';

const Count = Type.Integer({ minimum: 0, maximum: COUNT_MAX });

/** Schema of the losses in a response; `boundLosses` makes lists that satisfy it. */
export const Losses = Type.Array(
  Type.Object({
    kind: Type.Enum([...LOSS_KINDS]),
    first_page: Count,
    last_page: Count,
    place: Type.String({ maxLength: PLACE_MAX }),
    count: Count,
    characters: Count,
    excerpt: Type.String({ maxLength: EXCERPT_MAX }),
  }),
  { maxItems: LOSSES_MAX },
);

/** Number of characters in the text of a file. */
export const FileCharacters = Count;
