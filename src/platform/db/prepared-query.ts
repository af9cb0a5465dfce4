/// <reference path="./pg-utils.d.ts" />
import type { Writable } from 'node:stream';
import type pg from 'pg';
import utils from 'pg/lib/utils.js';
import { types } from './pg-types.ts';
import { bindMessage, DESCRIBE, EXECUTE, parseMessage, SYNC } from './wire-messages.ts';

export interface PreparedStatement {
  /** Its name on each connection; undefined if it is parsed each time. */
  name: string | undefined;
  text: string;
  values: readonly unknown[];
}

/** A previously prepared statement that runs before another one and returns one row. */
export interface Preceding {
  /** Its Bind message. */
  bind: Buffer;
  onRow(fields: readonly (string | null)[]): void;
}

/** The undocumented part of the driver's connection used here; the driver's own cursors rely on it too. */
interface Connection {
  stream: Writable;
  /** Texts of prepared statements by name; the client adds them. */
  parsedStatements: Record<string, string>;
}

/** The columns of a statement's rows, with the parsers of their text. */
interface RowShape {
  /** A row without values. Copies of it have their final object layout from the start. */
  empty: Record<string, null>;
  columns: { name: string; parse: (text: string) => unknown }[];
}

/**
 * Row shapes of the statements prepared on each connection. PostgreSQL never changes them ("cached plan must not change
 * result type").
 */
const shapesOf = new WeakMap<Connection, Map<string, RowShape>>();

/**
 * Sends a prepared statement after `preceding`, in one write and one round trip, and returns its rows. A single Sync
 * follows both, so they are one transaction: if the first fails, the second does not run. The columns are described
 * once per connection. Throws the same errors as `client.query`.
 */
export function sendPrepared(
  to: pg.ClientBase,
  statement: PreparedStatement,
  preceding?: Preceding,
): Promise<Record<string, unknown>[]> {
  return new Promise((resolve, reject) => {
    to.query(new PreparedQuery(statement, preceding, resolve, reject) as unknown as pg.Submittable);
  });
}

/**
 * Implements the interface that the driver's client expects of pg.Query: `submit`, then `handle…` for each message of
 * the server.
 */
class PreparedQuery {
  /** The client uses name and text to record that the statement was prepared. */
  readonly name: string | undefined;
  readonly text: string;
  readonly #values: readonly unknown[];
  readonly #rows: Record<string, unknown>[] = [];
  readonly #resolve: (rows: Record<string, unknown>[]) => void;
  readonly #reject: (error: unknown) => void;
  /** undefined once it has run. */
  #preceding: Preceding | undefined;
  #shapes: Map<string, RowShape> | undefined;
  #shape: RowShape | undefined;
  #failure: unknown;

  constructor(
    { name, text, values }: PreparedStatement,
    preceding: Preceding | undefined,
    resolve: (rows: Record<string, unknown>[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#preceding = preceding;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Returns an error if the values cannot be sent, which fails only this query. */
  submit(connection: Connection): unknown {
    const { name = '' } = this;
    const shapes = shapesOf.get(connection) ?? new Map<string, RowShape>();
    shapesOf.set(connection, shapes);
    this.#shapes = shapes;
    this.#shape = name === '' ? undefined : shapes.get(name);
    try {
      const messages: Buffer[] = this.#preceding ? [this.#preceding.bind, EXECUTE] : [];
      if (connection.parsedStatements[name] === undefined) messages.push(parseMessage(name, this.text));
      messages.push(
        bindMessage(
          name,
          this.#values.map((value) => utils.prepareValue(value)),
        ),
      );
      if (!this.#shape) messages.push(DESCRIBE);
      messages.push(EXECUTE, SYNC);
      // A broken stream reports its own error.
      if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
      return null;
    } catch (error) {
      return error;
    }
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID, 'text') }));
    this.#shape = { empty: Object.fromEntries(fields.map(({ name }) => [name, null])), columns };
    if (this.name !== undefined) this.#shapes?.set(this.name, this.#shape);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#preceding) return this.#preceding.onRow(fields);
    if (this.#failure !== undefined) return;
    try {
      this.#rows.push(rowOf(this.#shape, fields));
    } catch (error) {
      this.#failure = error;
      // With a pooler, another server may have answered.
      if (this.name !== undefined) this.#shapes?.delete(this.name);
    }
  }

  handleCommandComplete(): void {
    this.#preceding = undefined;
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#rows);
    else this.#reject(this.#failure);
  }

  handleError(error: unknown): void {
    this.#reject(this.#failure ?? error);
  }
}

function rowOf(shape: RowShape | undefined, fields: readonly (string | null)[]): Record<string, unknown> {
  if (shape?.columns.length !== fields.length) throw new Error('the columns of a prepared statement have changed');
  const row: Record<string, unknown> = { ...shape.empty };
  for (let i = 0; i < fields.length; i += 1) {
    const [text, column] = [fields[i], shape.columns[i]];
    if (text !== null && text !== undefined && column) row[column.name] = column.parse(text);
  }
  return row;
}
