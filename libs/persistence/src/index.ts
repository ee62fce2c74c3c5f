export * from './batched.js';
export * from './column-map.js';
export * from './data-source.js';
export { ListeningConnection } from './single-connections/listening-connection.js';
export * from './migrate.js';
export * from './named-statement.js';
export { useDefaultPlanner } from './planner-settings.js';
export { ProbeConnection } from './single-connections/probe-connection.js';
export * from './transaction.js';
