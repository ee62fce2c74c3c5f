export * from './batched.js';
export * from './column-map.js';
export * from './data-source.js';
export * from './listening-connection.js';
export * from './migrate.js';
export * from './named-statement.js';
export { useDefaultPlanner } from './planner-settings.js';
export * from './transaction.js';
