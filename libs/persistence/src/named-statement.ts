export type NamedParameters = Readonly<Record<string, unknown>>;

/** A statement with named parameters. Its text is constant and contains no values, so it is prepared once. */
export interface NamedStatement {
  /** The text with the placeholders of PostgreSQL: `$1`, `$2`, … */
  readonly text: string;
  /**
   * The values in the order of the placeholders. Throws if a parameter of the statement is missing, or if the statement
   * has no parameter with a given name.
   */
  readonly valuesOf: (parameters: NamedParameters) => unknown[];
}

/**
 * Parameters are written as `$amount`. A name that occurs twice is one parameter. Create a statement once, when its
 * module is loaded. The library sql-template-tag is not used, because it builds the text again for each query, and
 * writes two placeholders for a value that occurs twice.
 */
export function namedStatement(sql: string): NamedStatement {
  const names: string[] = [];
  const text = sql.replace(/\$(\w+)/g, (_, name: string) => {
    if (/^\d/.test(name)) throw new Error(`Parameter $${name} has a number instead of a name.`);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return {
    text,
    valuesOf(parameters) {
      const unknown = Object.keys(parameters).find((name) => !names.includes(name));
      if (unknown !== undefined) throw new Error(`The statement has no parameter $${unknown}.`);
      return names.map((name) => {
        if (parameters[name] === undefined) throw new Error(`Parameter $${name} of the statement is missing.`);
        return parameters[name];
      });
    },
  };
}
