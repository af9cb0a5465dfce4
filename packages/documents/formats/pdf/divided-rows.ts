import { isMark } from './marks/item-marks.ts';
import { bandAt } from './page/bands.ts';
import { type GappedRows, gappedRows, PIECE_GAP } from './page/column-gaps.ts';
import { shareBefore } from './page/letter-widths.ts';
import { type Line, lineOf } from './page/lines.ts';
import { cutOf, ESTIMATED, ESTIMATED_IN_HEAD, type Piece } from './page/near-cells.ts';
import type { PlacedText } from './page/placed-texts.ts';

/** Splits the lines of rows where a table has gaps between its columns. */
export function dividedRows(rows: readonly Line[][]): Line[][] {
  const bands = bandsOf(rows);
  const lines = bands.map((band) => band.flat());
  const pieces = bands.map((band, i) => (band.length > 1 ? mergedPieces(lines[i] ?? []) : piecesOf(lines[i] ?? [])));
  const divided: Line[][][] = bands.map((band) => [...band]);
  let after = 0;
  for (let from = 0; from < bands.length; from += 1) {
    const found = (pieces[from]?.length ?? 0) > 1 ? gappedRows(lines, pieces, from, after) : undefined;
    if (!found) continue;
    for (let at = found.from; at < found.from + found.count; at += 1) {
      const isHead = at < found.from + found.above;
      // Words of a head may be centered above numbers that are aligned elsewhere, so positions mislead. If a head line has one
      // piece per column, assign the pieces in order.
      const inOrder = isHead && bands[at]?.length === 1 ? pieces[at] : undefined;
      if (inOrder?.length === found.gaps.length + 1 && inOrder.every(({ parts }) => parts)) {
        const [line] = lines[at] as [Line];
        divided[at] = [
          inOrder.map(({ parts = [] }, index) => ({ ...line, ...lineOf(parts), column: { table: found, index } })),
        ];
        continue;
      }
      divided[at] = (bands[at] ?? []).map((row) => row.flatMap((line) => cellsOf(line, found, isHead)));
    }
    after = found.from + found.count;
    from = after - 1;
  }
  return divided.flat();
}

/** Groups rows whose lines belong to the same cells. */
function bandsOf(rows: readonly Line[][]): Line[][][] {
  const bands: Line[][][] = [];
  for (let from = 0; from < rows.length; from += bands.at(-1)?.length ?? 1) bands.push(bandAt(rows, from, true));
  return bands;
}

/** Merges pieces of a band that overlap horizontally. */
function mergedPieces(lines: readonly Line[]): Piece[] {
  const merged: Piece[] = [];
  for (const piece of piecesOf(lines).sort((a, b) => a.x - b.x)) {
    const last = merged.at(-1);
    if (!last || piece.x >= last.right) {
      merged.push({ ...piece });
      continue;
    }
    last.right = Math.max(last.right, piece.right);
    last.parts = last.parts && piece.parts && [...last.parts, ...piece.parts];
  }
  return merged;
}

/** Splits a line into one line for each column that it has texts in. */
function cellsOf(line: Line, table: GappedRows, isHead: boolean): Line[] {
  const { gaps } = table;
  const parts = cutAt(line, gaps, isHead ? ESTIMATED_IN_HEAD : ESTIMATED);
  const indexOf = ({ x, right }: { x: number; right: number }) =>
    gaps.filter(({ from, to }) => (x + right) / 2 > (from + to) / 2).length;
  // Text in a gap belongs to the column that is closest to the whole piece.
  const pieces = piecesOf([{ ...line, parts }]).filter((piece) => piece.parts);
  const cells = [...Map.groupBy(pieces, indexOf)];
  if (cells.length < 2) return [{ ...line, column: { table, index: indexOf(line) } }];
  return cells.map(([index, own]) => ({
    ...line,
    ...lineOf(own.flatMap((piece) => piece.parts ?? [])),
    column: { table, index },
  }));
}

/** Returns the parts of a line, with parts that cross a gap split. */
function cutAt(line: Line, gaps: readonly { from: number; to: number }[], estimated: number): PlacedText[] {
  let parts = line.code ? [] : [...(line.parts ?? [])];
  for (const gap of gaps) {
    for (const piece of piecesOf([{ ...line, parts }])) {
      const cut = cutOf(piece, gap, estimated);
      if (cut) parts = parts.flatMap((part) => (part === cut.part ? halvesOf(part, cut.at) : [part]));
    }
  }
  return parts;
}

/** The smallest gap that is wider than a word space, in font sizes. */
const WIDER = 0.45;

/** Splits a line above a table at wide gaps and at the gaps between columns. */
export function splitAtGaps(line: Line, gaps: readonly { from: number; to: number }[]): Line[] {
  if (!line.parts || line.code) return [line];
  const groups: PlacedText[][] = [];
  let [before, right] = [0, 0];
  for (const part of cutAt(line, gaps, ESTIMATED_IN_HEAD)) {
    const end = part.x + part.width;
    const isApart = gaps.some(
      ({ from, to }) => (before + right) / 2 < (from + to) / 2 && (part.x + end) / 2 > (from + to) / 2,
    );
    if (groups.length === 0 || isApart || part.x - right > WIDER * line.size) groups.push([part]);
    else groups.at(-1)?.push(part);
    [before, right] = [part.x, end];
  }
  return groups.length < 2 ? [line] : groups.map((parts) => ({ ...line, ...lineOf(parts) }));
}

/** Splits a text at a space; positions are estimated. */
function halvesOf(part: PlacedText, at: number): PlacedText[] {
  const { text, x, width } = part;
  const before = shareBefore(text, at) * width;
  const behind = shareBefore(text, at + 1) * width;
  return [
    { ...part, text: text.slice(0, at), width: before },
    { ...part, text: text.slice(at + 1), x: x + behind, width: width - behind },
  ];
}

/** The mark of an item is not a separate piece. */
function piecesOf(row: readonly Line[]): Piece[] {
  return row.flatMap(({ parts, x, right, size, code }): Piece[] => {
    if (!parts || code) return [{ x, right, size, parts: undefined }];
    const pieces: (Piece & { parts: PlacedText[] })[] = [];
    for (const part of parts) {
      const last = pieces.at(-1);
      const isBeside = last && part.x - last.right < PIECE_GAP * size;
      if (
        last &&
        (isBeside || (pieces.length === 1 && last.parts.length === 1 && isMark(last.parts[0]?.text.trim() ?? '')))
      ) {
        last.right = Math.max(last.right, part.x + part.width);
        last.parts.push(part);
      } else pieces.push({ x: part.x, right: part.x + part.width, size, parts: [part] });
    }
    return pieces;
  });
}
