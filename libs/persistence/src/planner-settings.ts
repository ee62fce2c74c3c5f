import type { Transaction } from './transaction.js';

/**
 * Planner settings for connections of a service, whose statements look up rows by key. Custom plans would cost twice as much. A generic
 * plan that was made while a table was small would use a sequential scan, also after the table has grown, so these are disabled. If
 * PostgreSQL must use a disabled path, its high cost would trigger JIT compilation, so JIT is disabled too.
 */
export const LOOKUP_PLANNER_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Custom plans, because this connection may have cached a generic plan with the settings for lookups. */
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
 * Uses the default planner settings of PostgreSQL for the rest of this transaction. For a report or a reconciliation, which joins large
 * parts of tables: the settings for lookups would use nested loops without an index. Costs one round trip; the statement timeout is
 * still 15 s. Not for lookups.
 */
export async function useDefaultPlanner(tx: Transaction): Promise<void> {
  await tx.query(SET_LOCAL);
}
