import { childOf, childrenOf, findAll, type XmlNode } from './xml-nodes.ts';

/** Resolves the styles of a document by name. */
export interface OdfStyles {
  /** Returns the heading level of a paragraph style; undefined if it is not a heading. */
  levelOf(style: string): number | undefined;
  /** Whether the name of a style, or of a style that it is based on, matches. */
  isOf(style: string, name: RegExp): boolean;
  /** Returns the HTML elements for a character style. */
  marksOf(style: string): ('strong' | 'em' | 's' | 'sup' | 'sub')[];
  /** Whether a list style has numbers at this level, counted from 1. */
  isOrdered(style: string, level: number): boolean;
}

/** The longest chain of inherited styles; a longer one is a cycle. */
const CHAIN_MAX = 20;

export function stylesOf(...parts: readonly (XmlNode | undefined)[]): OdfStyles {
  const styles = new Map(
    parts.flatMap((part) => findAll(part, 'style').map((style) => [style.attributes.name ?? '', style] as const)),
  );
  const lists = new Map(
    parts.flatMap((part) => findAll(part, 'list-style').map((style) => [style.attributes.name ?? '', style] as const)),
  );
  const chainOf = (name: string): XmlNode[] => {
    const chain: XmlNode[] = [];
    for (let style = styles.get(name); style && chain.length < CHAIN_MAX; ) {
      chain.push(style);
      style = styles.get(style.attributes['parent-style-name'] ?? '');
    }
    return chain;
  };
  return {
    levelOf(name) {
      const level = Number(
        chainOf(name).find(({ attributes }) => attributes['default-outline-level'])?.attributes[
          'default-outline-level'
        ],
      );
      return level >= 1 ? level : undefined;
    },
    isOf: (name, pattern) =>
      pattern.test(name) || chainOf(name).some(({ attributes }) => pattern.test(attributes['parent-style-name'] ?? '')),
    marksOf(name) {
      const properties = chainOf(name).map((style) => childOf(style, 'text-properties')?.attributes ?? {});
      const value = (key: string) => properties.find((each) => each[key] !== undefined)?.[key] ?? '';
      const position = value('text-position');
      return [
        ...(/^(?:bold|[6-9]00)$/.test(value('font-weight')) ? (['strong'] as const) : []),
        ...(/italic|oblique/.test(value('font-style')) ? (['em'] as const) : []),
        ...(/^(?:none)?$/.test(value('text-line-through-style')) ? [] : (['s'] as const)),
        ...(/^super|^[1-9]/.test(position) ? (['sup'] as const) : []),
        ...(/^sub|^-/.test(position) ? (['sub'] as const) : []),
      ];
    },
    isOrdered: (name, level) =>
      childrenOf(lists.get(name)).some(
        (each) =>
          each.name === 'list-level-style-number' &&
          Number(each.attributes.level) === level &&
          (each.attributes['num-format'] ?? '') !== '',
      ),
  };
}
