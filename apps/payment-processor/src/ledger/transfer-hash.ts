/**
 * SQL expression for the SHA-256 hash of a row of `transfers`. The hash is computed over the row's canonical text: a
 * JSON object of all columns that are not null, as PostgreSQL writes jsonb, with `created_at` in microseconds since
 * 1970. A new column that is null in older rows does not change the hashes of these rows.
 */
export function transferHash(alias: string): string {
  const time = `jsonb_build_object('created_at', (extract(epoch FROM ${alias}.created_at) * 1000000)::bigint)`;
  return `sha256(convert_to(jsonb_strip_nulls(to_jsonb(${alias}) || ${time})::text, 'UTF8'))`;
}

/** SQL expression for the previous hash of the first seal: 32 zero bytes. */
export const GENESIS_HASH = `decode(repeat('00', 32), 'hex')`;
