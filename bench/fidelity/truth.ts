import { parseXmlPiece, type XmlElement } from '@ibid/documents/formats/word/xml-tree.ts';

export interface Cell {
  text: string;
}

/** Cells by row and column. A cell that spans rows or columns is at each of its places. */
export type Table = (Cell | undefined)[][];

/** Real tables are smaller, and damaged numbers must not fill the memory. */
const PLACES_MAX = 2_000;

/**
 * Parses the tables of a `-str.xml` file of the ICDAR 2013 competition. Joins the regions of a table on several pages.
 */
export function tablesOfTruth(xml: string): Table[] {
  return all(parseXmlPiece(xml), 'table').map((table) => {
    const places: Table = [];
    for (const region of all(table, 'region')) {
      const [rows, columns] = [numberOf(region, 'row-increment', 0), numberOf(region, 'col-increment', 0)];
      for (const cell of all(region, 'cell')) {
        const own = {
          text: all(cell, 'content')
            .map(({ text }) => text)
            .join(' '),
        };
        const [row, column] = [numberOf(cell, 'start-row', 0), numberOf(cell, 'start-col', 0)];
        const [lastRow, lastColumn] = [numberOf(cell, 'end-row', row), numberOf(cell, 'end-col', column)];
        for (let y = row + rows; y <= Math.min(lastRow + rows, PLACES_MAX); y += 1) {
          const line = places[y] ?? [];
          places[y] = line;
          for (let x = column + columns; x <= Math.min(lastColumn + columns, PLACES_MAX); x += 1) line[x] = own;
        }
      }
    }
    return places;
  });
}

function all(element: XmlElement, name: string): XmlElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)]);
}

function numberOf({ attributes }: XmlElement, name: string, missing: number): number {
  const value = Number(attributes[name]);
  return Number.isInteger(value) && value >= 0 ? value : missing;
}
