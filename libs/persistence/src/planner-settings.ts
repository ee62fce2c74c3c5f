import type { Transaction } from './transaction.js';

/**
 * Of the connections of a service, whose statements look rows up by key. Planned anew for each value they would cost twice as
 * much; planned for a table that was small they would read that table from end to end, and go on doing so while the table
 * grows. A path that is switched off and taken all the same looks so costly that PostgreSQL would compile the statement; that is
 * off, too.
 */
export const LOOK_UP_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Custom plans: a generic one may have been made for this connection before, with the settings for look-ups. */
const DEFAULT_PLANS = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
};

const SET_LOCAL = `SELECT ${Object.entries(DEFAULT_PLANS)
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ')}`;

/**
 * From here to its end, the statements of this transaction are planned as PostgreSQL plans by default. For a report or a
 * reconciliation, which joins large parts of tables: with the settings for look-ups it would compare each row with each other
 * where an index is missing. Costs one round trip; a statement still ends after 15 s. Not for look-ups.
 */
export async function useDefaultPlanner(tx: Transaction): Promise<void> {
  await tx.query(SET_LOCAL);
}
