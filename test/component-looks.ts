import type { Page } from 'playwright-core';

/** Computed styles by component name. They come from the style sheets alone: installed fonts do not affect them. */
export type Looks = Record<string, Record<string, string>>;

/**
 * Script for the browser. Reads the first element of each name in each section of the styleguide, in the header, the
 * tree and the outline. Omits inherited and empty values. Sides are logical, so that both directions give the same
 * result.
 */
const READ_LOOKS = `(() => {
  const hex = (colour) => colour.replace(/rgba?\\(([^)]*)\\)/g, (_all, parts) => {
    const [r, g, b, a = 1] = parts.split(/[ ,/]+/).map(Number);
    const digits = [r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('');
    return '#' + digits + (a === 1 ? '' : '/' + a);
  }).replace(/\\d+\\.\\d{3,}/g, (number) => String(Math.round(Number(number) * 100) / 100));
  const SIDES = ['block-start', 'inline-end', 'block-end', 'inline-start'];
  const sides = (read) => {
    const [top, end, bottom, start] = SIDES.map(read);
    return top === end && end === bottom && bottom === start ? top : [top, end, bottom, start].join(' ');
  };
  const borderOf = (style) => {
    const widths = sides((side) => style.getPropertyValue('border-' + side + '-width'));
    const drawn = SIDES.find((side) => style.getPropertyValue('border-' + side + '-width') !== '0px');
    return drawn === undefined ? '0px' :
      [widths, ...['style', 'color'].map((what) => style.getPropertyValue('border-' + drawn + '-' + what))].join(' ');
  };
  const inherited = (style) => ({
    color: style.color,
    font: style.fontSize + ' ' + style.fontWeight + ' ' + style.fontFamily.split(',')[0].replaceAll('"', ''),
    line: style.lineHeight,
  });
  const looks = {};
  for (const it of document.querySelectorAll('.top *, .tree, .tree *, .outline, .outline *, main, main *')) {
    if (it.closest('svg, option, ibid-palette') || !it.checkVisibility()) continue;
    const section = it.closest('main section')?.querySelector('h2')?.textContent ??
      (it.closest('.top') ? 'Header' : it.closest('.tree') ? 'Tree' : it.closest('.outline') ? 'Outline' : 'Page');
    const classes = [...it.classList].filter((name) => !/^(?:open|here)$/.test(name));
    const name = section + ' › ' + [it.localName, ...classes].join('.');
    if (name in looks) continue;
    const style = getComputedStyle(it);
    const own = inherited(style);
    const above = inherited(getComputedStyle(it.parentElement));
    const said = Object.entries(own).filter(([key, value]) => value !== above[key]);
    // As it is computed, not as it is used: what an automatic one becomes depends on the widths of letters.
    const map = it.computedStyleMap();
    const rest = {
      background: style.backgroundColor,
      border: borderOf(style),
      radius: style.borderRadius,
      padding: sides((side) => style.getPropertyValue('padding-' + side)),
      margin: sides((side) => map.get('margin-' + side).toString()),
      gap: style.gap,
      underline: style.textDecorationLine,
    };
    const isNothing = /^(?:0px|normal|none|rgba\\(0, 0, 0, 0\\))$/;
    said.push(...Object.entries(rest).filter(([, value]) => !isNothing.test(value)));
    looks[name] = Object.fromEntries(said.map(([key, value]) => [key, hex(value)]));
  }
  return looks;
})()`;

export function readLooks(page: Page): Promise<Looks> {
  return page.evaluate<Looks>(READ_LOOKS);
}

/** Formats looks as text, one line a component. Looks after the first list only their differences from it. */
export function writeLooks(all: readonly (readonly [look: string, looks: Looks])[]): string {
  const [[, first] = ['', {}]] = all;
  const parts = all.map(([look, looks], i) => {
    const lines = Object.entries(looks).flatMap(([name, style]) => {
      const known = i === 0 ? undefined : first[name];
      const said = Object.entries(style).filter(([key, value]) => known?.[key] !== value);
      const gone = Object.keys(known ?? {}).filter((key) => !(key in style));
      const words = [...said.map(([key, value]) => `${key} ${value}`), ...gone.map((key) => `no ${key}`)];
      return words.length > 0 ? [`${name}: ${words.join('; ')}`] : [];
    });
    const missing = Object.keys(first).filter((name) => !(name in looks));
    return [`# ${look}`, ...lines, ...missing.map((name) => `${name}: not shown`), ''].join('\n');
  });
  return parts.join('\n');
}
