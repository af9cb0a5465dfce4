/** A drawn line, in points: its position on one axis, and its extent on the other. */
export interface Rule {
  isHorizontal: boolean;
  at: number;
  from: number;
  to: number;
}

/** A cell of a ruled table; a merged cell has the indexes of its first row and column. */
export interface GridCell {
  grid: Grid;
  row: number;
  column: number;
}

/** The ruled lines of a table: x coordinates from left to right, and y coordinates from top to bottom. */
export interface Grid {
  xs: readonly number[];
  ys: readonly number[];
  /** The cell at each row and column; a merged cell repeats. */
  cells: readonly (readonly GridCell[])[];
}

/** Lines at a smaller distance are one line, for example borders of adjacent cells; in points. */
const NEAR = 3;

const COLUMNS_MAX = 60;
const ROWS_MAX = 300;

/** The smallest width of a column or row at a table edge without a line, in points. */
const OPEN = 8;

/**
 * Finds ruled tables on a page: at least two rows and two columns of connected lines. Where two lines extend equally
 * far beyond the last crossing line, the table has an open column or row there.
 */
export function gridsOf(rules: readonly Rule[]): Grid[] {
  const across = merged(rules.filter(({ isHorizontal }) => isHorizontal));
  const down = merged(rules.filter(({ isHorizontal }) => !isHorizontal));
  return groupsOf(across, down).flatMap(({ across, down }) => {
    const xs = withOpenEdges([...new Set(down.map(({ at }) => at))], across).sort((a, b) => a - b);
    const ys = withOpenEdges([...new Set(across.map(({ at }) => at))], down).sort((a, b) => b - a);
    const isTable = xs.length > 2 && ys.length > 2 && xs.length <= COLUMNS_MAX && ys.length <= ROWS_MAX;
    return isTable ? [gridOf(xs, ys, across, down)] : [];
  });
}

/** Adds the positions where crossing lines end beyond the outermost lines. */
function withOpenEdges(places: readonly number[], crossing: readonly Rule[]): number[] {
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const isShared = (ends: readonly number[], end: number) =>
    ends.filter((each) => Math.abs(each - end) <= NEAR).length > 1;
  const froms = crossing.map(({ from }) => from).filter((from) => from < first - OPEN);
  const tos = crossing.map(({ to }) => to).filter((to) => to > last + OPEN);
  const before = froms.filter((from) => isShared(froms, from));
  const behind = tos.filter((to) => isShared(tos, to));
  return [
    ...(before.length > 0 ? [Math.min(...before)] : []),
    ...places,
    ...(behind.length > 0 ? [Math.max(...behind)] : []),
  ];
}

/** Merges lines that continue or repeat each other, and aligns lines that are near each other. */
function merged(rules: readonly Rule[]): Rule[] {
  const sorted = [...rules].sort((a, b) => a.at - b.at);
  const all: Rule[] = [];
  for (let from = 0; from < sorted.length; ) {
    const start = sorted[from]?.at ?? 0;
    let to = from;
    while (to < sorted.length && (sorted[to]?.at ?? 0) - start <= NEAR) to += 1;
    const near = sorted.slice(from, to);
    const at = near.reduce((sum, rule) => sum + rule.at, 0) / near.length;
    let last: Rule | undefined;
    for (const rule of near.sort((a, b) => a.from - b.from)) {
      if (last && rule.from <= last.to + NEAR) last.to = Math.max(last.to, rule.to);
      else all.push((last = { ...rule, at }));
    }
    from = to;
  }
  return all;
}

/** Groups lines that touch each other, directly or through other lines. */
function groupsOf(across: readonly Rule[], down: readonly Rule[]): { across: Rule[]; down: Rule[] }[] {
  const left = new Set<Rule>([...across, ...down]);
  const groups: { across: Rule[]; down: Rule[] }[] = [];
  for (const first of across) {
    if (!left.delete(first)) continue;
    const group = { across: [first], down: [] as Rule[] };
    const open = [first];
    for (let rule = open.pop(); rule; rule = open.pop()) {
      for (const other of rule.isHorizontal ? down : across) {
        if (!left.has(other) || !touches(rule, other)) continue;
        left.delete(other);
        (other.isHorizontal ? group.across : group.down).push(other);
        open.push(other);
      }
    }
    groups.push(group);
  }
  return groups;
}

function touches(rule: Rule, other: Rule): boolean {
  const isWithin = (at: number, { from, to }: Rule) => at >= from - NEAR && at <= to + NEAR;
  return isWithin(rule.at, other) && isWithin(other.at, rule);
}

function gridOf(xs: readonly number[], ys: readonly number[], across: readonly Rule[], down: readonly Rule[]): Grid {
  const separates = (rules: readonly Rule[], at: number, middle: number) =>
    rules.some((rule) => rule.at === at && rule.from <= middle && middle <= rule.to);
  const cells: GridCell[][] = [];
  const grid: Grid = { xs, ys, cells };
  for (let row = 0; row + 1 < ys.length; row += 1) {
    cells.push([]);
    for (let column = 0; column + 1 < xs.length; column += 1) {
      const x = ((xs[column] ?? 0) + (xs[column + 1] ?? 0)) / 2;
      const y = ((ys[row] ?? 0) + (ys[row + 1] ?? 0)) / 2;
      const [beside, above] = [cells[row]?.[column - 1], cells[row - 1]?.[column]];
      const joins = beside && !separates(down, xs[column] ?? 0, y) ? beside : undefined;
      const below = above && !separates(across, ys[row] ?? 0, x) ? above : undefined;
      cells[row]?.push(joins ?? below ?? { grid, row, column });
    }
  }
  return grid;
}

/** Returns the cell at a point; undefined outside all grids. */
export function cellAt(grids: readonly Grid[], x: number, y: number): GridCell | undefined {
  for (const { xs, ys, cells } of grids) {
    const column = xs.findLastIndex((each) => each <= x);
    const row = ys.findLastIndex((each) => each >= y);
    const cell = cells[row]?.[column];
    if (cell) return cell;
  }
  return undefined;
}
