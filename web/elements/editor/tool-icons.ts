/** Icons that fonts may lack: the path of each on a grid of 16 by 16. */
const PATHS = {
  heading: 'M4 3v10M12 3v10M4 8h8',
  subheading: 'M5 5v8M11 5v8M5 9h6',
  highlight: 'M3 13.5h10M5 10.5l1-3.5 4.5-4.5 2.5 2.5L8.5 9.5z',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1-1a3 3 0 0 1 4.2 4.2l-1 1M9 11.5l-1 1a3 3 0 0 1-4.2-4.2l1-1',
  list: 'M6 4h7.5M6 8h7.5M6 12h7.5M2.8 4h.01M2.8 8h.01M2.8 12h.01',
  numbers: 'M7 4h6.5M7 8h6.5M7 12h6.5M2.5 3l1-.5v3M2.3 10.2a1 1 0 0 1 1.9.4c0 .9-1.9 1.4-1.9 2.4h2',
  tasks: 'M2.5 3h4.5v4.5H2.5zM3.6 5.2l.9.9 1.6-1.9M9 5h4.5M2.5 9.5h4.5V14H2.5zM9 11.7h4.5',
  quote: 'M3 4v8M6 5h7.5M6 8h7.5M6 11h5',
  callout: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.3V11M8 5h.01',
  table: 'M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M8 3v10',
  picture: 'M2.5 3h11v10h-11zM2.5 11l3-3.2 2.6 2.7 2-1.8 3.4 3.2M10.3 5.7h.01',
  find: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14',
  focus: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M5 6.5h6M5 9.5h4',
  play: 'M5 3v10l8-5z',
  page: 'M4 2h5l3 3v9H4zM9 2v3h3',
  plus: 'M8 3v10M3 8h10',
  shapes: 'M2.5 2.5H8V8H2.5zM8 5.2h3v3M5.2 8v3h3M11 8.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z',
  code: 'm5.5 5-3 3 3 3M10.5 5l3 3-3 3',
  warning: 'M8 2.5 14.2 13.5H1.8zM8 6.5v3.2M8 11.7h.01',
  file: 'M12.8 7.5 7.6 12.7a3 3 0 0 1-4.3-4.3l5.5-5.5a2 2 0 0 1 2.9 2.9l-5.3 5.3a1 1 0 0 1-1.5-1.4l4.7-4.7',
  formula: 'M12.5 3H4l4.5 5L4 13h8.5',
  diagram: 'M6 2.5h4v3H6zM2 10.5h4v3H2zM10 10.5h4v3h-4zM8 5.5V8M4 10.5V8h8v2.5',
  date: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  properties: 'M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3h.01',
  divider: 'M2 8h12M4 4.5h8M4 11.5h8',
  preview: 'M2.5 3h11v10h-11zM8 3v10M10 6h2M10 8.5h2',
} as const;

export type ToolIcon = keyof typeof PATHS;

export const isToolIcon = (name: string | undefined): name is ToolIcon =>
  name !== undefined && Object.hasOwn(PATHS, name);

/** Creates an icon in the colour of the surrounding text, without an accessible name. */
export function toolIcon(name: ToolIcon): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const attributes = { class: 'icon', viewBox: '0 0 16 16', width: '18', height: '18', fill: 'none' };
  const pen = { stroke: 'currentColor', 'stroke-width': '1.4', 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };
  for (const [attribute, value] of Object.entries({ ...attributes, ...pen, 'aria-hidden': 'true' })) {
    svg.setAttribute(attribute, value);
  }
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
