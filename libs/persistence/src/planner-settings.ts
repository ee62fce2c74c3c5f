import type { Transaction } from './transaction.js';

/**
 * For the connections of a service, whose statements look up rows by key. A new plan for each value would double their cost. A
 * plan made while a table was small would scan the whole table, and continue to do so while the table grows. A disabled path that
 * is used anyway looks so costly that PostgreSQL would JIT-compile the statement, so JIT is off too.
 */
export const LOOK_UP_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Custom plans: this connection may already have a generic plan, made with the settings for look-ups. */
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
 * From now on, PostgreSQL plans the statements of this transaction with its default settings. For a report or a reconciliation,
 * which joins large parts of tables: with the settings for look-ups it would use nested loops where an index is missing. Costs one
 * round trip; a statement still ends after 15 s. Not for look-ups.
 */
export async function useDefaultPlanner(tx: Transaction): Promise<void> {
  await tx.query(SET_LOCAL);
}
