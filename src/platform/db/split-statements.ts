/** Comments, literals, quoted names, dollar-quoted bodies, statement ends, and the text between them. */
const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$/-]+|[\s\S]/g;

export interface SqlStatement {
  /** Without comments and the semicolon. */
  text: string;
  /** Its comments, with their markers. */
  comments: string[];
}

/**
 * Splits a script into statements. Function bodies must be dollar-quoted or literals; `begin atomic … end` is not
 * supported.
 */
export function splitStatements(script: string): SqlStatement[] {
  let last: SqlStatement = { text: '', comments: [] };
  const statements = [last];
  for (const [token] of script.matchAll(TOKEN)) {
    if (token === ';') {
      last = { text: '', comments: [] };
      statements.push(last);
    } else if (!/^(--|\/\*)/.test(token)) last.text += token;
    else {
      last.text += ' ';
      last.comments.push(token);
    }
  }
  return statements.map(({ text, comments }) => ({ text: text.trim(), comments })).filter(({ text }) => text !== '');
}

/**
 * Converts the trailing comments on columns of a `create table`, one column per line, to `comment on column`
 * statements.
 */
export function columnComments(script: string): string {
  const tables = script.matchAll(/^create (?:unlogged )?table (\w+) \(\n([\s\S]*?)^\)/gm);
  const comments = [...tables].flatMap(([, table, columns = '']) =>
    [...columns.matchAll(/^ +(\w+) .*?,? -- (.+)$/gm)].map(
      ([, column, text = '']) => `comment on column ${table}.${column} is '${text.replaceAll("'", "''")}';\n`,
    ),
  );
  return comments.join('');
}
