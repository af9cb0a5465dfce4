import { type Matrix, product } from '../pictures/paint-operators.ts';
import { endOfText, numbersBefore, type Point } from './painted-paths.ts';

/** A page with more operators is a drawing. */
const STEPS_MAX = 30_000;
const SAVED_MAX = 200;

/** Operators that move and show text, and the start of a text, which may contain the same letters. */
const STEP = /\(|(?<=\s)(?:cm|q|Q|BT|Tm|Td|TD|TL|T\*)(?=[\s[(<]|$)|(?<=[\s\])>])(?:Tj|TJ|['"])(?=\s|$)/g;

const UNIT: Matrix = [1, 0, 0, 1, 0, 0];

/**
 * Returns the points on the page where the content stream starts writing after a move; none if the page is a drawing.
 * PDF.js joins texts that are as close as words, even if they are cells of a table.
 */
export function textStarts(content: string): Point[] {
  const starts: Point[] = [];
  const saved: Matrix[] = [];
  let [matrix, line] = [UNIT, UNIT];
  let leading = 0;
  let hasMoved = false;
  let operands = 0;
  let steps = 0;
  const move = (x: number, y: number) => {
    line = product(line, [1, 0, 0, 1, x, y]);
    hasMoved = true;
  };
  const next = new RegExp(STEP);
  for (let found = next.exec(content); found; found = next.exec(content)) {
    const { 0: step, index } = found;
    const from = operands;
    if (step === '(') {
      next.lastIndex = endOfText(content, index);
      continue;
    }
    operands = next.lastIndex;
    steps += 1;
    if (steps > STEPS_MAX) return [];
    const numbers = (count: number) => numbersBefore(content, from, index, count);
    if (step === 'q') {
      if (saved.length < SAVED_MAX) saved.push(matrix);
    } else if (step === 'Q') matrix = saved.pop() ?? matrix;
    else if (step === 'cm') matrix = product(matrix, numbers(6) as unknown as Matrix);
    else if (step === 'BT' || step === 'Tm') {
      line = step === 'BT' ? UNIT : (numbers(6) as unknown as Matrix);
      hasMoved = true;
    } else if (step === 'TL') leading = numbers(1)[0] ?? 0;
    else if (step === 'Td' || step === 'TD') {
      const [x = 0, y = 0] = numbers(2);
      if (step === 'TD') leading = -y;
      move(x, y);
    } else if (step === 'T*') move(0, -leading);
    else {
      if (step === "'" || step === '"') move(0, -leading);
      const [, , , , x, y] = product(matrix, line);
      if (hasMoved) starts.push([x, y]);
      hasMoved = false;
    }
  }
  return starts;
}
