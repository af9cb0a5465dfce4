import { BOXES_MAX } from '@ibid/documents/cite-blocks.ts';
import type { CompiledFile, SplitFile } from '@ibid/documents/compile-file.ts';
import { KINDS } from '@ibid/documents/formats/kinds.ts';
import { TAG_MAX, TAGS_MAX } from '@ibid/markdown/front-matter/front-matter.ts';
import type { RenderedPage } from '@ibid/markdown/render.ts';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Boxes, Coordinate } from '../box-messages.ts';
import type { Frame } from '../frames.ts';
import { FileCharacters, Losses } from '../loss-messages.ts';
import { textReader } from '../text-table.ts';

/** A compiled file, without the parts that only the rendering process needs. */
export type SentFile = Omit<CompiledFile, 'blocks' | 'wiki_links'>;

const Text = Type.Integer({ minimum: 0 });
const Count = Type.Integer({ minimum: 0 });
const Indexed = Type.Object({ terms: Text, vocabulary: Text });
const Links = Type.Array(
  Type.Object({
    to_path: Type.String(),
    wanted_title: Type.Optional(Type.String()),
    wanted_path: Type.Optional(Type.String()),
    places: Type.Array(Count),
    line: Count,
  }),
);
const RENDERED = {
  html: Text,
  text: Text,
  outline: Type.Array(
    Type.Object({
      level: Type.Integer({ minimum: 1, maximum: 6 }),
      text: Type.String(),
      anchor: Type.String(),
      offset: Count,
    }),
  ),
  indexed: Indexed,
  word_count: Count,
  title: Type.String({ maxLength: 255 }),
  description: Type.String({ maxLength: 300 }),
  language: Type.String(),
  tags: Type.Array(Type.String({ maxLength: TAG_MAX }), { maxItems: TAGS_MAX }),
  properties: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  plain_reason: Type.Enum(['', 'too_complex', 'too_slow', 'out_of_memory', 'failed']),
};
const Kind = Type.Enum([...KINDS]);
const Counts = Type.Array(Count);
const ContentType = Type.String({ maxLength: 255 });

const SplitMessage = Type.Object({
  kind: Kind,
  title: Type.String(),
  language: Type.String(),
  content_type: ContentType,
  losses: Losses,
  file_characters: Type.Optional(FileCharacters),
  parts: Type.Array(
    Type.Object({
      parent: Type.Integer({ minimum: -1 }),
      name: Type.String(),
      title: Type.String(),
      markdown: Text,
      block_pages: Type.Array(Type.Object({ first_page: Count, last_page: Count, boxes: Type.Optional(Boxes) })),
      repeatsHead: Type.Boolean(),
      lines: Type.Array(Type.Object({ at: Count, line: Count, height: Count })),
      links: Type.Array(Type.Object({ fragment: Type.String(), part: Count, anchor: Type.String() })),
    }),
  ),
});

const FileMessage = Type.Object({
  ...RENDERED,
  kind: Kind,
  content_type: ContentType,
  markdown: Text,
  links: Type.Array(Type.String()),
  references: Type.Array(Type.String()),
  page_links: Links,
  named_paths: Type.Array(Type.String()),
  source_text: Text,
  source_indexed: Indexed,
  citations: Type.Object({
    starts: Counts,
    ends: Counts,
    first_pages: Counts,
    last_pages: Counts,
    first_lines: Counts,
    last_lines: Counts,
    hashes: Text,
    form_blocks: Counts,
    form_hashes: Text,
    contexts: Text,
    target_blocks: Counts,
    targets: Type.Array(Type.String()),
    boxes: Type.Array(Coordinate, { maxItems: BOXES_MAX }),
  }),
  losses: Losses,
  file_characters: FileCharacters,
});

const PageMessage = Type.Object({
  ...RENDERED,
  links: Links,
  wiki_links: Type.Array(Type.Object({ target: Type.String(), path: Type.String(), line: Count })),
});

/**
 * The valid responses: progress (a text of `length` UTF-16 units is parsed next), a page, a file, its parts, the reason
 * why the file cannot be used, or an internal error. Any other response is treated as a crash.
 */
const Response = Type.Union([
  Type.Object({ is: Type.Literal('progress'), length: Count }),
  Type.Object({ is: Type.Literal('page'), sizes: Counts, page: PageMessage }),
  Type.Object({ is: Type.Literal('file'), sizes: Counts, file: FileMessage }),
  Type.Object({ is: Type.Literal('parts'), sizes: Counts, split: SplitMessage }),
  Type.Object({ is: Type.Literal('refusal'), code: Type.String(), message: Type.String() }),
  Type.Object({ is: Type.Literal('error'), name: Type.String(), message: Type.String(), stack: Type.String() }),
]);
export type Response = Static<typeof Response>;

/** Compiled, because a long page has thousands of links and the validation blocks the event loop. */
const isResponse = Compile(Response);

/** A response as the service reads it. */
export type ReceivedResponse =
  | { is: 'progress'; length: number }
  | { is: 'page'; page: RenderedPage }
  | { is: 'file'; file: SentFile }
  | { is: 'parts'; split: SplitFile }
  | { is: 'refusal'; code: string; message: string }
  | { is: 'error'; error: Error };

/** Parses a response of a process that read hostile text. Returns undefined if it is invalid. */
export function readResponse({ header, body }: Frame): ReceivedResponse | undefined {
  if (!isResponse.Check(header)) return undefined;
  try {
    return received(header, body);
  } catch {
    // The response refers to texts that it does not contain.
    return undefined;
  }
}

function received(response: Response, body: Buffer): ReceivedResponse {
  switch (response.is) {
    case 'progress':
    case 'refusal':
      return response;
    case 'error':
      return { is: 'error', error: errorOf(response) };
    case 'page': {
      const text = textReader(response.sizes, body);
      return { is: 'page', page: { ...response.page, ...readRendered(response.page, text) } };
    }
    case 'file': {
      const { file } = response;
      const text = textReader(response.sizes, body);
      const { markdown, source_text, source_indexed, citations } = file;
      return {
        is: 'file',
        file: {
          ...file,
          ...readRendered(file, text),
          markdown: text(markdown),
          source_text: text(source_text),
          source_indexed: readIndexed(source_indexed, text),
          citations: {
            ...citations,
            hashes: text(citations.hashes),
            form_hashes: text(citations.form_hashes),
            contexts: text(citations.contexts),
          },
        },
      };
    }
    case 'parts': {
      const text = textReader(response.sizes, body);
      const parts = response.split.parts.map((part) => ({ ...part, markdown: text(part.markdown) }));
      return { is: 'parts', split: { ...response.split, parts } };
    }
  }
}

function errorOf({ name, message, stack }: Extract<Response, { is: 'error' }>): Error {
  return Object.assign(new Error(message), { name, stack });
}

function readRendered(
  { html, text, indexed }: Pick<Static<typeof PageMessage>, 'html' | 'text' | 'indexed'>,
  textOf: (number: number) => string,
) {
  return { html: textOf(html), text: textOf(text), indexed: readIndexed(indexed, textOf) };
}

function readIndexed({ terms, vocabulary }: Static<typeof Indexed>, text: (number: number) => string) {
  return { terms: text(terms), vocabulary: text(vocabulary) };
}
