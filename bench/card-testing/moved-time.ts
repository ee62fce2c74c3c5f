/** Lets time pass for the limits against card testing, by making older what they have stored. */
import type { RunningSystem } from '../platforms/system.ts';

/** Tables that contain times of declines and attacks, with their columns of times and of lists of times. */
const TABLES: readonly {
  readonly table: string;
  readonly times: readonly string[];
  readonly lists: readonly string[];
}[] = [
  {
    table: 'payment_processor.velocity_counters',
    times: ['reset_at', 'closed_until', 'expires_at'],
    lists: ['declined_at'],
  },
  { table: 'payment_processor.attacked_sites', times: ['ends_at', 'modified_at'], lists: [] },
  { table: 'hosted_gateway.site_attack_levels', times: ['until'], lists: [] },
];

/**
 * Counts that the services keep only in memory do not move: the approvals since the last decline, and the declines
 * that make a challenge harder.
 */
export async function moveTime(sql: RunningSystem['sql'], seconds: number): Promise<void> {
  const interval = `interval '${seconds} seconds'`;
  for (const { table, times, lists } of TABLES) {
    const moves = [
      ...times.map((column) => `${column} = ${column} - ${interval}`),
      ...lists.map(
        (column) =>
          `${column} = ARRAY(SELECT at - ${interval} FROM unnest(${column}) WITH ORDINALITY AS t(at, position) ORDER BY position)`,
      ),
    ];
    await sql(`UPDATE ${table} SET ${moves.join(', ')}`);
  }
}
