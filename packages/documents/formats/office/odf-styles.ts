import { childOf, childrenOf, findAll, type XmlNode } from './xml-nodes.ts';

/** What the names of styles mean in a document. */
export interface OdfStyles {
  /** The level of a heading that a paragraph style makes. */
  levelOf(style: string): number | undefined;
  /** Whether a style is, or is based on, one of these names. */
  isOf(style: string, name: RegExp): boolean;
  /** The elements that a style of words makes. */
  marksOf(style: string): ('strong' | 'em' | 's' | 'sup' | 'sub')[];
  /** Whether the lists of a style have numbers at this level, from 1 on. */
  isOrdered(style: string, level: number): boolean;
}

/** Styles inherit from each other; longer chains are circles. */
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
