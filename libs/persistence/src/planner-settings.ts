import type { Transaction } from './transaction.js';

/**
 * Planner settings for the connections of a service, whose statements look up rows by key. Plans are generic, because a
 * custom plan for each execution would double the cost of the execution. Sequential scans are disabled, because a
 * generic plan that was created while a table was small would still use a sequential scan after the table has grown.
 * JIT is disabled for this reason: when PostgreSQL must use a disabled scan, it assumes a high cost, which would
 * trigger a compilation.
 */
export const LOOKUP_PLANNER_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/**
 * For a service whose statements have optional conditions and many indexes to choose from, and whose callers are people:
 * each execution is planned with the current sizes of the tables. A generic plan from the time when the tables were
 * small may use only the first columns of an index, and would read all rows later. Planning costs less than a
 * millisecond.
 */
export const CUSTOM_LOOKUP_PLANNER_SETTINGS = { ...LOOKUP_PLANNER_SETTINGS, plan_cache_mode: 'force_custom_plan' };

/** Plans are custom, because this connection may have cached a generic plan with the settings for lookups. */
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
 * Uses the default planner settings of PostgreSQL for the rest of this transaction. Call it for reports and
 * reconciliation, which join large parts of tables. With the settings for lookups, PostgreSQL would use nested loops
 * without an index. The call needs one round trip. The statement timeout is still 15 s.
 */
export async function useDefaultPlanner(tx: Transaction): Promise<void> {
  await tx.query(SET_LOCAL);
}
