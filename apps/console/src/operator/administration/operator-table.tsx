import type { ComponentChildren } from 'preact';

interface OperatorTable<Row> {
  readonly caption: string;
  /** Shown instead of a table without rows. */
  readonly empty: string;
  readonly rows: readonly Row[];
  readonly columns: readonly (readonly [name: string, value: (row: Row) => ComponentChildren])[];
}

/** A table of records, as the administration API lists them. */
export function OperatorTable<Row>({ caption, empty, rows, columns }: OperatorTable<Row>) {
  return (
    <section class="card">
      <h2>{caption}</h2>
      {rows.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <table class="payments">
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(([name]) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {columns.map(([, value]) => (
                  <td>{value(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A time in UTC, because operators compare it with log lines. */
export function UtcTime({ at }: { readonly at: string }) {
  return <time datetime={at}>{at.slice(0, 19).replace('T', ' ')}</time>;
}

interface TextField {
  readonly label: string;
  readonly name: string;
  readonly value?: string | number | undefined;
  readonly maxLength?: number;
  readonly isOptional?: boolean;
}

/** A field for a text. */
export function TextField({ label, name, value = '', maxLength = 100, isOptional = false }: TextField) {
  return (
    <label>
      {label}
      <input name={name} value={value} maxlength={maxLength} required={!isOptional} />
    </label>
  );
}

/** Rand and cents of an amount in cents, as the lists of operators show it. */
export function formatCents(cents: number, currency: string): string {
  return `${currency} ${Math.trunc(cents / 100)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
}
